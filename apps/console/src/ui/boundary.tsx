import { Component, type ReactNode } from 'react';
import { Button } from './button.js';
import { Empty } from './notices.js';
import { t } from '../texts/texts.js';

interface GuardedProps {
  /** What is shown: once that changes, showing it is tried again. */
  of: unknown;
  children: ReactNode;
}

interface BoundaryState {
  of: unknown;
  hasFailed: boolean;
}

interface BoundaryProps extends GuardedProps {
  /** Shown instead of what cannot be shown. */
  substitute: ReactNode;
}

/** Keeps a part that cannot be shown from taking the whole page with it. */
class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state = { of: this.props.of, hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  static getDerivedStateFromProps({ of }: BoundaryProps, state: BoundaryState) {
    return of === state.of ? null : { of, hasFailed: false };
  }

  override render() {
    return this.state.hasFailed ? this.props.substitute : this.props.children;
  }
}

function NoView() {
  return (
    <div role="alert">
      <Empty title={t('ui.notShown')}>
        <p>{t('ui.notShownWhy')}</p>
        <Button onClick={() => location.reload()}>{t('ui.reload')}</Button>
      </Empty>
    </div>
  );
}

/** A view, or the whole page. */
export function Guarded(props: GuardedProps) {
  return <Boundary {...props} substitute={<NoView />} />;
}

/** An entry of a list: the others are shown without it. */
export function Entry(props: GuardedProps) {
  return <Boundary {...props} substitute={<li className="row row-bad">{t('ui.entryNotShown')}</li>} />;
}
