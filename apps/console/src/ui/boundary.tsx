import { Component, type ReactNode } from 'react';
import { Button } from './button.js';
import { Empty } from './notices.js';

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

const NO_VIEW = (
  <div role="alert">
    <Empty title="This cannot be shown">
      <p>The data may be damaged, or newer than this page.</p>
      <Button onClick={() => location.reload()}>Reload the page</Button>
    </Empty>
  </div>
);

/** A view, or the whole page. */
export function Guarded(props: GuardedProps) {
  return <Boundary {...props} substitute={NO_VIEW} />;
}

const NO_ENTRY = <li className="row row-bad">This entry cannot be shown.</li>;

/** An entry of a list: the others are shown without it. */
export function Entry(props: GuardedProps) {
  return <Boundary {...props} substitute={NO_ENTRY} />;
}
