import { createFoundation, type FoundationOptions } from './foundation.js';
import { SERVICES, type Services } from './router.js';
import type { AnyPart, AnyService, MadeBy } from './shared/define-service.js';

/**
 * Creates all services and those of the host's own, each after what it needs, once.
 * @throws Error for a kind of records that a service of the host's own names in `tells`, but does not tell; for a name that its
 * `create` returns and another part has
 */
export function createServices<Own extends AnyService>(options: FoundationOptions, own: readonly Own[]): Services & MadeBy<Own> {
  const foundation = createFoundation(options);
  const made = new Map<AnyPart, object>();
  const taken = new Map<string, unknown>(Object.entries(foundation));

  function make(part: AnyPart): object {
    const existing = made.get(part);
    if (existing) return existing;
    // what it needs is created also where it creates nothing itself
    const needed = neededBy(part);
    const added = part.create?.(needed as never) ?? {};
    for (const [name, one] of Object.entries(added)) {
      // Tandem's own parts are found by these names, too; a service may pass on what it was given
      if ((taken.get(name) ?? one) !== one) throw new Error(`ownServices: a service creates "${name}", which there already is`);
      taken.set(name, one);
    }
    made.set(part, added);
    return added;
  }
  const neededBy = ({ needs = [] }: AnyPart): object => Object.assign({}, foundation, ...needs.map(make));

  for (const service of [...SERVICES, ...own]) make(service);
  const kinds = foundation.lists.kinds();
  const untold = own.flatMap(({ tells = [] }) => tells).find((kind) => !kinds.includes(kind));
  if (untold !== undefined) throw new Error(`ownServices: there is no lists.tell("${untold}", …), which \`tells\` names`);
  return Object.assign({}, foundation, ...made.values()) as Services & MadeBy<Own>;
}
