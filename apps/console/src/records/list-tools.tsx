import { useState } from 'react';
import { Button } from '../ui/button.js';
import { Choice, Field } from '../ui/field.js';
import { Icon } from '../ui/icons.js';
import { KeptField } from '../ui/kept-field.js';
import { conditionsOf, filterOf, operatorsFor, takesValue, type Condition, type Operator } from './conditions.js';
import type { QueriedField, RecordList } from './definitions.js';
import type { ListState } from './list-state.js';
import { SavedViews } from './saved-views.js';
import { labelOf, valueTerm, valueText } from './words.js';
import { LATEST, timeOfLocal, timeText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

interface ToolsProps {
  list: RecordList;
  state: ListState;
  change(change: Partial<ListState>): void;
}

/** A value of a filter, in the reader's words where it is one of the document's. */
const valueOf = (field: string, value: string, list: string) =>
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? timeText(new Date(value)) : (valueTerm(value, field, list) ?? value);

/** The search, the filters and the grouping of a list: everything that its address can say. */
export function ListTools({ list, state, change }: ToolsProps) {
  const [isAdding, setAdding] = useState(false);
  const conditions = conditionsOf(state.filter);
  const usable = list.fields.filter(({ parameters, type }) => parameters.has('$filter') && !type.startsWith('list'));
  const drop = (index: number) => change({ filter: filterOf(conditions?.filter((_, at) => at !== index) ?? [], list.fields) });
  return (
    <div className="list-tools">
      {list.isSearched && (
        <search>
          <KeptField label={t('ui.search')} type="search" value={state.q} onType={(q) => change({ q })} />
        </search>
      )}
      <ul className="chips" aria-label={t('records.tools.filters')}>
        {conditions ? (
          conditions.map(({ field, operator, value }, index) => (
            <li key={`${field} ${operator} ${value}`} className="chip">
              {t('records.condition', {
                field: labelOf(field),
                operator: t(`records.operators.${operator}`),
                value: valueOf(field, value, list.operation.id),
              })}
              <Button
                className="quiet"
                aria-label={t('records.tools.removeOne', { field: labelOf(field) })}
                onClick={() => drop(index)}
              >
                <Icon name="close" />
              </Button>
            </li>
          ))
        ) : (
          <li className="chip">
            <code>{state.filter}</code>
            <Button className="quiet" aria-label={t('records.tools.remove')} onClick={() => change({ filter: '' })}>
              <Icon name="close" />
            </Button>
          </li>
        )}
        <li>
          <Button className="quiet" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
            <Icon name="filter" /> {t('records.tools.filter')}
          </Button>
        </li>
      </ul>
      {isAdding && (
        <AddCondition
          list={list.operation.id}
          fields={usable}
          add={(condition) => {
            const added = filterOf([...(conditions ?? []), condition], list.fields);
            change({ filter: conditions ? added : `(${state.filter}) and ${added}` });
            setAdding(false);
          }}
        />
      )}
      <Grouping list={list} state={state} change={change} />
      <SavedViews list={list} state={state} change={change} />
    </div>
  );
}

interface AddConditionProps {
  /** The operation of the list. */
  list: string;
  fields: readonly QueriedField[];
  add(condition: Condition): void;
}

function AddCondition({ list, fields, add }: AddConditionProps) {
  const [first] = fields;
  const [name, setName] = useState(first?.name ?? '');
  const { type, values } = fields.find((one) => one.name === name) ?? { type: 'string', values: [] };
  const operators = operatorsFor({ type, values });
  const [chosen, setOperator] = useState<Operator>('eq');
  const operator = operators.includes(chosen) ? chosen : (operators[0] ?? 'eq');
  const choices: Choices =
    type === 'boolean'
      ? [
          ['true', t('records.yes')],
          ['false', t('records.no')],
        ]
      : values.map((one) => [one, valueText(one, name, list)]);
  const inputs: Record<string, string> = { number: 'number', date: 'date' };
  return (
    <form
      className="add-condition"
      onSubmit={(event) => {
        event.preventDefault();
        const typed = ((new FormData(event.currentTarget).get('value') as string | null) ?? '').trim();
        // the reader's day
        const isDay = type === 'date' && typed !== '';
        add({ field: name, operator, value: isDay ? timeOfLocal(`${typed}T00:00`).toISOString() : typed });
      }}
    >
      <Choice
        label={t('records.tools.field')}
        value={name}
        options={fields.map((one) => [one.name, labelOf(one.name)])}
        onChange={setName}
      />
      <Choice<Operator>
        label={t('records.tools.condition')}
        value={operator}
        options={operators.map((one) => [one, t(`records.operators.${one}`)])}
        onChange={setOperator}
      />
      {takesValue(operator) &&
        (choices.length > 0 ? (
          <ChosenValue key={name} choices={choices} />
        ) : (
          <Field
            label={t('records.tools.value')}
            name="value"
            type={inputs[type] ?? 'text'}
            max={type === 'date' ? LATEST.slice(0, 10) : undefined}
            step="any"
            required
            pattern=".*\S.*"
            autoComplete="off"
          />
        ))}
      <Button type="submit" className="primary">
        {t('ui.add')}
      </Button>
    </form>
  );
}

type Choices = readonly (readonly [value: string, text: string])[];

function ChosenValue({ choices }: { choices: Choices }) {
  const [value, setValue] = useState(choices[0]?.[0] ?? '');
  return (
    <>
      <Choice label={t('records.tools.value')} value={value} options={choices} onChange={setValue} />
      <input type="hidden" name="value" value={value} />
    </>
  );
}

const DATES = /(At|At$)$/;

function Grouping({ list, state, change }: ToolsProps) {
  const groups = list.fields.filter(({ name, parameters }) => parameters.has('$apply') && name !== 'id' && !DATES.test(name));
  if (groups.length === 0) return null;
  const numbers = list.fields.filter(({ type }) => type === 'number');
  const measures = [
    ['', t('records.tools.number')] as const,
    ...numbers.flatMap(({ name }) =>
      (['sum', 'average'] as const).map((by) => [`${by} ${name}`, t(`records.tools.${by}`, { field: labelOf(name) })] as const),
    ),
  ];
  return (
    <div className="grouping">
      <Choice
        label={t('records.tools.groupBy')}
        value={state.group}
        options={[['', t('records.tools.nothing')], ...groups.map(({ name }) => [name, labelOf(name)] as const)]}
        onChange={(group) => change({ group })}
      />
      {state.group !== '' && (
        <Choice
          label={t('records.tools.show')}
          value={state.measure}
          options={measures}
          onChange={(measure) => change({ measure })}
        />
      )}
    </div>
  );
}
