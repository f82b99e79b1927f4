import type { AggregateItem, Condition, Literal, OrderKey, PathReference, Step, Subject } from './tree.js';

// Prints trees as text; parsing the text gives the same tree. The only place that quotes strings.

/** The text of `$filter` for a tree. */
export function printFilter(condition: Condition): string {
  switch (condition.kind) {
    case 'or':
      return condition.terms.map((term) => (term.kind === 'or' ? `(${printFilter(term)})` : printFilter(term))).join(' or ');
    case 'and':
      return condition.terms
        .map((term) => (term.kind === 'or' || term.kind === 'and' ? `(${printFilter(term)})` : printFilter(term)))
        .join(' and ');
    case 'not':
      return `not (${printFilter(condition.term)})`;
    case 'in':
      return `${printSubject(condition)} in (${condition.values.map(printLiteral).join(', ')})`;
    case 'text':
      return `${condition.called}(${printSubject(condition)}, ${quoted(condition.text)})`;
    default:
      return `${printSubject(condition)} ${condition.operator} ${printLiteral(condition.value)}`;
  }
}

function printSubject({ path, lower }: Subject): string {
  return lower ? `tolower(${path})` : path;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function printLiteral(literal: Literal): string {
  if (literal.kind === 'null') return 'null';
  return literal.kind === 'string' ? quoted(literal.value) : String(literal.value);
}

/** The text of `$orderby`. */
export function printOrder(keys: readonly OrderKey[]): string {
  return keys.map(({ path, direction }) => `${path} ${direction}`).join(', ');
}

/** The text of `$expand`. */
export function printExpand(items: readonly PathReference[]): string {
  return items.map(({ path }) => path).join(', ');
}

/** The text of `$select`. */
export function printSelect(names: readonly string[]): string {
  return names.join(',');
}

/** The text of `$apply`. */
export function printApply(steps: readonly Step[]): string {
  return steps.map(printStep).join(' then ');
}

function printStep(step: Step): string {
  switch (step.kind) {
    case 'aggregate':
      return `aggregate(${step.items.map(printItem).join(', ')})`;
    case 'groupby': {
      const keys = `(${step.keys.map(({ path }) => path).join(', ')})`;
      return `groupby(${step.steps.length === 0 ? keys : `${keys}, ${printApply(step.steps)}`})`;
    }
    case 'filter':
      return `filter(${printFilter(step.condition)})`;
    case 'orderby':
      return `orderby(${printOrder(step.keys)})`;
    default:
      return `top(${step.count})`;
  }
}

function printItem(item: AggregateItem): string {
  return `${item.kind === 'count' ? '$count' : `${item.path} with ${item.with}`} as ${item.alias}`;
}
