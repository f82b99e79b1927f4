import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';

/** The changes that a request asks for; null fields stay unchanged. */
export interface RequestedChanges {
  name: string | null;
  branchName: string | null;
  typeId: string | null;
  addressLine1: string | null;
  addressLine2: string | null;
  addressLine3: string | null;
  postalCode: string | null;
  certifiedQualifications: { name: string; status: string; value: string }[] | null;
}

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

export const changeRequestResource = defineListResource({
  name: 'organizationChangeRequests',
  fields: { identityId: 'string', status: 'string', name: 'string', createdAt: 'date', updatedAt: 'date', decidedAt: 'date' },
  hidden: ['decisionId'],
  defaultOrder: 'createdAt desc, id desc',
});

const text = { type: String, default: null };

export const changeRequestModel = defineModel<ChangeRequestRecord>('organizationChangeRequests', {
  fields: {
    organizationId: { type: String, required: true },
    identityId: { type: String, required: true },
    status: { type: String, default: 'pending' },
    name: text,
    branchName: text,
    typeId: text,
    addressLine1: text,
    addressLine2: text,
    addressLine3: text,
    postalCode: text,
    certifiedQualifications: { type: [{ _id: false, name: String, status: String, value: String }], default: null },
    decidedBy: text,
    decidedAt: { type: Date, default: null },
    decisionId: text,
  },
  indexes: [...listIndexes(changeRequestResource, { within: ['organizationId'] })],
});
