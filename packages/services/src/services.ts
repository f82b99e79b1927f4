import { createFoundation, type FoundationOptions } from './foundation.js';
import { SERVICES, type Services } from './router.js';
import type { AnyPart } from './shared/define-service.js';

/** Creates all services, each after what it needs, once. */
export function createServices(options: FoundationOptions): Services {
  const foundation = createFoundation(options);
  const made = new Map<AnyPart, object>();

  function make(part: AnyPart): object {
    const existing = made.get(part);
    if (existing) return existing;
    const added = part.create?.(neededBy(part) as never) ?? {};
    made.set(part, added);
    return added;
  }
  const neededBy = ({ needs = [] }: AnyPart): object => Object.assign({}, foundation, ...needs.map(make));

  for (const service of SERVICES) make(service);
  return Object.assign({}, foundation, ...made.values()) as Services;
}
