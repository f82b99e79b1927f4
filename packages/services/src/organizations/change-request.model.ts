import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import { changeRequestRecord, type RequestedChanges } from './change-requests.schemas.js';

export interface ChangeRequestRecord extends Live, RequestedChanges {
  organizationId: string;
  /** The identity that filed the request. */
  identityId: string;
  status: 'pending' | 'approved' | 'rejected';
  decidedBy: string | null;
  decidedAt: Date | null;
  /** Id of the attempt to decide; each attempt makes a new one. */
  decisionId: string | null;
}

export const changeRequestModel = defineModel<ChangeRequestRecord>('organizationChangeRequests', {
  traced: { kind: 'changeRequest', organization: 'organizationId' },
  people: {
    identityId: { erased: 'replace' },
    decidedBy: { erased: 'replace', exported: ['organizationId', 'status', 'decidedAt'] },
  },
  goesWith: [{ with: 'organizations', by: 'organizationId' }],
  files: ['organization-certificate'],
  fields: changeRequestRecord.stored,
  indexes: [
    ...listIndexes(changeRequestRecord.resource, { within: ['organizationId'] }),
    { keys: { organizationId: 1 }, deletedToo: true, serves: 'what goes for good with an organization' },
  ],
});
