import { AuditPage } from '../operation/audit.js';
import { EventsPage } from '../operation/events.js';
import { OperationsPage } from '../operation/operations.js';
import { TrashPage } from '../operation/trash.js';
import { LiveProvider } from './live.js';
import { RecordPage, RecordsPage } from './record-pages.js';
import { WithDefinitions } from './with-definitions.js';

const within = (Page: () => React.ReactNode) =>
  function Route() {
    return (
      <WithDefinitions>
        <Page />
      </WithDefinitions>
    );
  };

const live = (Page: () => React.ReactNode) =>
  within(() => (
    <LiveProvider>
      <Page />
    </LiveProvider>
  ));

/** The views that are made of what the server defines. */
export const RecordsRoute = live(RecordsPage);
export const RecordRoute = live(RecordPage);
export const AuditRoute = within(AuditPage);
export const EventsRoute = within(EventsPage);
export const TrashRoute = within(TrashPage);
export const OperationsRoute = within(OperationsPage);
