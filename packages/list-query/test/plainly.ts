import { readDate } from '../src/dates.js';
import { valueAt } from '../src/keyset.js';
import type { Condition, Literal, OrderKey } from '../src/index.js';
import type { Stored } from './database.js';

// A second implementation of conditions and orders, without a database: the store must agree with it.

type Value = string | number | boolean | null;

function plain(value: unknown): Value {
  return value instanceof Date ? value.getTime() : ((value ?? null) as Value);
}

function valueOf(literal: Literal): Value {
  if (literal.kind === 'null') return null;
  return literal.kind === 'date' ? plain(readDate(literal.value)) : literal.value;
}

function valuesAt(document: Stored, path: string): { values: Value[]; isList: boolean } {
  const found = valueAt(document, path === 'id' ? '_id' : path);
  return { values: (Array.isArray(found) ? found : [found]).map(plain), isList: Array.isArray(found) };
}

/** Whether a document meets a condition: a list by any element, nulls only by `eq` and `ne`. */
export function meets(document: Stored, condition: Condition): boolean {
  return truth(document, condition) === true;
}

/** The truth of a condition; null for a function of null. */
function truth(document: Stored, condition: Condition): boolean | null {
  switch (condition.kind) {
    case 'and': {
      const truths = condition.terms.map((term) => truth(document, term));
      return truths.includes(false) ? false : truths.includes(null) ? null : true;
    }
    case 'or': {
      const truths = condition.terms.map((term) => truth(document, term));
      return truths.includes(true) ? true : truths.includes(null) ? null : false;
    }
    case 'not': {
      const held = truth(document, condition.term);
      return held === null ? null : !held;
    }
    case 'in':
      return condition.values.some((value) => meets(document, { ...condition, kind: 'compare', operator: 'eq', value }));
    case 'text': {
      const { called, text, lower } = condition;
      const { values, isList } = valuesAt(document, condition.path);
      const texts = values.filter((value) => typeof value === 'string').map((value) => (lower ? value.toLowerCase() : value));
      if (texts.length === 0) return isList ? false : null;
      return texts.some(
        (value) =>
          ({ contains: value.includes(text), startswith: value.startsWith(text), endswith: value.endsWith(text) })[called],
      );
    }
    default: {
      const { operator, path } = condition;
      const wanted = valueOf(condition.value);
      if (operator === 'ne') return !meets(document, { ...condition, operator: 'eq' });
      const { values: stored, isList } = valuesAt(document, path);
      const values = condition.lower ? stored.map((value) => (typeof value === 'string' ? value.toLowerCase() : value)) : stored;
      return values.some((value) => {
        if (operator === 'eq') return value === wanted && !(isList && values.length === 0);
        if (value === null || wanted === null) return false;
        const order = compare(value, wanted);
        return { gt: order > 0, ge: order >= 0, lt: order < 0, le: order <= 0 }[operator];
      });
    }
  }
}

/** Nulls first; text by its bytes, as the store compares it. */
function compare(one: Value, other: Value): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return Number(one) - Number(other);
}

/** The documents in an order, equal ones by id. */
export function sorted(documents: readonly Stored[], order: readonly OrderKey[]): Stored[] {
  const keys: OrderKey[] = [...order, { path: 'id', direction: 'asc' }];
  return [...documents].sort((one, other) => {
    for (const { path, direction } of keys) {
      const result = compare(valuesAt(one, path).values[0] ?? null, valuesAt(other, path).values[0] ?? null);
      if (result !== 0) return direction === 'asc' ? result : -result;
    }
    return 0;
  });
}
