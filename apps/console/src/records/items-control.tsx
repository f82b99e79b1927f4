import { useFieldArray } from 'react-hook-form';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { typedOf } from './form-values.js';
import type { InputField } from './inputs.js';
import { labelOf, oneOf } from './words.js';
import { t, term } from '../texts/texts.js';

interface ItemsProps {
  path: string;
  label: string;
  fields: readonly InputField[];
  /** Draws a field of an item. */
  renderField(field: InputField, path: string): ReactNode;
}

/** Several items with fields of their own: those of an order, the members to add. */
export function ItemsControl({ path, label, fields, renderField }: ItemsProps) {
  const { fields: items, append, remove } = useFieldArray({ name: path });
  const one = term('fields', label) ?? oneOf(labelOf(label));
  return (
    <div className="items">
      {items.map((item, index) => (
        <fieldset key={item.id} className="fields item">
          <legend>{t('records.form.item', { one: labelOf(one), number: index + 1 })}</legend>
          {fields.map((field) => renderField(field, `${path}.${index}.${field.name}`))}
          <Button className="quiet" onClick={() => remove(index)}>
            <Icon name="trash" /> {t('ui.remove')}
          </Button>
        </fieldset>
      ))}
      <Button onClick={() => append(typedOf(undefined, { type: 'object', fields: [...fields] }))}>
        <Icon name="plus" /> {t('records.form.addItem', { one })}
      </Button>
    </div>
  );
}
