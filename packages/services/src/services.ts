import { createFoundation, type Foundation, type FoundationOptions } from './foundation.js';
import { SERVICES } from './router.js';
import type { AllOf, AnyPart, MadeBy } from './shared/define-service.js';

type Definition = (typeof SERVICES)[number];
type Needed = NonNullable<Definition['needs']>[number];

/** Everything that is created: the foundation, and what services and the parts that they need add. */
export type Services = Foundation & MadeBy<Definition> & AllOf<MadeBy<Needed>>;

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
