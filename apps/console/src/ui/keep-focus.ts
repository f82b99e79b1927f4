const FOCUSABLE = 'button, input, select, textarea, a[href]';

/** Where the focus goes from what a change of the page has taken away. */
function successorOf(change: MutationRecord | undefined): Element | null {
  const { target, nextSibling: after, previousSibling: before } = change ?? {};
  if (!(target instanceof Element) || !target.isConnected) return document.querySelector('main');
  return (
    // an entry of a list: the next one, or the one before it
    ([after, before].find((one) => one instanceof HTMLLIElement && one.isConnected) as Element | undefined) ??
    // a button of an entry
    target.closest('main li, .popup li, .popup') ??
    // a button below a list that now has more entries, or has them all
    (before instanceof Element && before.matches('ul, ol') ? before.lastElementChild : null) ??
    // what is behind a dialog takes no focus: the control in the place of the one that is gone, or the first
    (target.closest('dialog') && target.querySelector(FOCUSABLE)) ??
    target.closest('dialog')?.querySelector(FOCUSABLE) ??
    document.querySelector('main')
  );
}

/**
 * Hands the focus on when what has it disappears. It would fall to the body: a keyboard would start over at the top of
 * the page, and a screen reader fall silent.
 */
export function keepFocus(page: Element): void {
  let last: HTMLElement | undefined;
  page.addEventListener('focusin', ({ target }) => (last = target as HTMLElement));
  // on its way from one to the next nothing has it, and leaving may take the first away: what was found for an input
  const leave = ({ relatedTarget }: FocusEvent) => {
    if (relatedTarget instanceof HTMLElement) last = relatedTarget;
  };
  page.addEventListener('focusout', leave as EventListener, true);

  function handOn(changes: readonly MutationRecord[]): void {
    const { activeElement } = document;
    const isLost = activeElement === document.body || activeElement === last;
    if (!last || !isLost || (last.isConnected && last.checkVisibility())) return;
    const change = changes.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(last ?? null)));
    const successor = successorOf(change);
    if (!(successor instanceof HTMLElement)) return;
    if (successor.tabIndex < 0) successor.tabIndex = -1;
    successor.focus({ preventScroll: true });
  }

  let isWaiting = false;
  new MutationObserver((changes) => {
    if (last?.isConnected !== true) return handOn(changes);
    if (isWaiting) return;
    // whether it is still visible is known once the page is laid out: asking at each change lays it out each time
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      handOn([]);
    });
  }).observe(page, { childList: true, subtree: true });
}
