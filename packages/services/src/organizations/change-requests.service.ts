import { isDuplicateKey, newId, present, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { ListAnswer } from '../shared/list-declaration.js';
import type { ListQuery } from '../shared/list-query.js';
import type { Lists } from '../shared/lists.js';
import { changeRequestModel, type ChangeRequestRecord } from './change-request.model.js';
import { changeRequestList, type ChangeRequest, type NewChangeRequest } from './change-requests.schemas.js';
import { changeStages } from './organization-changes.js';
import { organizationModel, ownerNameOf, type OrganizationRecord } from './organization.model.js';
import { organizationErrors as errors } from './organizations.errors.js';

export type ChangeRequestsService = ReturnType<typeof createChangeRequestsService>;

interface ChangeRequestsOptions {
  storage: Storage;
  lists: Lists;
  certificates: Attachments;
}

interface Filing {
  organizationId: string;
  request: { id: string; identityId: string } & Omit<NewChangeRequest, 'certificateImage'>;
  /** The organization's before. */
  auditStatus: string | null;
}

interface Decision {
  organizationId: string;
  changeRequestId: string;
  status: 'approved' | 'rejected';
  decisionId: string;
  decidedBy: string;
  decidedAt: Date;
}

/** Without its certificate, which is no part of the record. */
function show(record: ChangeRequestRecord): ChangeRequest {
  const { decisionId, ...shown } = present(record);
  return { ...shown, certificateImage: null, certificateImageUrl: null };
}

/** What an approved request changes in its organization. */
function changesOf(request: ChangeRequestRecord): object {
  const { name, branchName, typeId, certifiedQualifications } = request;
  const { addressLine1, addressLine2, addressLine3, postalCode } = request;
  const lines = Object.entries({ addressLine1, addressLine2, addressLine3, postalCode }).filter(([, line]) => line !== null);
  const fields = Object.entries({ name, branchName, typeId, certifiedQualifications }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(fields), ...(lines.length > 0 && { address: Object.fromEntries(lines) }) };
}

/** Changes that an owner asks for and the admin decides (decisions R7). What touches request and organization is a unit of work. */
export function createChangeRequestsService({ storage, lists, certificates }: ChangeRequestsOptions) {
  const Requests = storage.model(changeRequestModel);
  const Organizations = storage.model(organizationModel);
  const pipeline = { updatePipeline: true } as const;

  async function setAuditStatus(organizationId: string, auditStatus: string | null): Promise<void> {
    await Organizations.updateOne({ _id: organizationId }, { $set: { auditStatus } });
  }

  const filings = storage.defineUnit<Filing>({
    name: 'organizations.request change',
    recovery: 'finish',
    steps: [
      {
        name: 'request',
        run: ({ organizationId, request: { id, ...request } }) =>
          Requests.updateOne({ _id: id }, { $setOnInsert: { organizationId, ...request } }, { upsert: true }),
        undo: ({ request }) => Requests.deleteOne({ _id: request.id }).setOptions({ hard: true }),
      },
      {
        name: 'organization',
        run: ({ organizationId }) => setAuditStatus(organizationId, 'waiting_for_review'),
        undo: ({ organizationId, auditStatus }) => setAuditStatus(organizationId, auditStatus),
      },
    ],
  });

  /** Takes a pending request for this decision: of many at once one does. @throws errors.changeRequestDecided, changeRequestNotFound */
  async function take({ organizationId, changeRequestId: _id, ...decision }: Decision): Promise<void> {
    const { matchedCount } = await Requests.updateOne({ _id, organizationId, status: 'pending' }, { $set: decision });
    if (matchedCount > 0) return;
    const found = await Requests.findOne({ _id, organizationId }).lean<ChangeRequestRecord>();
    if (!found) throw errors.changeRequestNotFound();
    if (found.decisionId !== decision.decisionId) throw errors.changeRequestDecided();
  }

  async function giveBack({ changeRequestId: _id, decisionId }: Decision): Promise<void> {
    const pending = { status: 'pending', decidedBy: null, decidedAt: null, decisionId: null };
    await Requests.updateOne({ _id, decisionId }, { $set: pending });
  }

  /** @throws errors.notFound, nameTaken */
  async function apply({ organizationId, changeRequestId, status }: Decision): Promise<void> {
    const request = await Requests.findById(changeRequestId).lean<ChangeRequestRecord>();
    const changes = request && status === 'approved' ? changesOf(request) : {};
    try {
      const stages = changeStages({ ...changes, auditStatus: status });
      const { matchedCount } = await Organizations.updateOne({ _id: organizationId }, stages, pipeline);
      if (matchedCount === 0) throw errors.notFound();
    } catch (error) {
      throw isDuplicateKey(error) ? errors.nameTaken({ name: request?.name ?? '' }) : error;
    }
  }

  const decisions = storage.defineUnit<Decision>({
    name: 'organizations.decide change',
    recovery: 'finish',
    steps: [
      { name: 'request', run: take, undo: giveBack },
      // the last step, in one write: where it failed there is nothing to take back
      { name: 'organization', run: apply, undo: async () => {} },
    ],
  });

  /** @throws errors.nameTaken when an owner of the organization has another one of this name */
  async function expectFreeName({ _id, members }: OrganizationRecord, name: string): Promise<void> {
    const owners = (members ?? []).filter(({ role }) => role === 'owner');
    const ownerNames = { $in: owners.map(({ identityId }) => ownerNameOf(identityId, name)) };
    if (await Organizations.exists({ ownerNames, _id: { $ne: _id } })) throw errors.nameTaken({ name });
  }

  async function get(changeRequestId: string): Promise<ChangeRequest> {
    const record = await Requests.findById(changeRequestId).lean<ChangeRequestRecord>();
    if (!record) throw errors.changeRequestNotFound();
    const shown = show(record);
    await addCertificates([shown]);
    return shown;
  }

  /** Writes certificates into requests, by one query. */
  async function addCertificates(requests: readonly ChangeRequest[]): Promise<void> {
    const files = await certificates.oneOf(requests.map(({ id }) => id));
    for (const request of requests) {
      request.certificateImage = files.get(request.id) ?? null;
      request.certificateImageUrl = request.certificateImage?.url ?? null;
    }
  }

  return {
    /**
     * Files a request; the organization waits for review then.
     * @param identityId who asks, and has uploaded the certificate
     * @throws errors.notFound, nameTaken; ATTACH_ERRORS
     */
    async create(
      organizationId: string,
      { certificateImage, ...given }: NewChangeRequest,
      identityId: string,
    ): Promise<ChangeRequest> {
      const organization = await Organizations.findById(organizationId).lean<OrganizationRecord>();
      if (!organization) throw errors.notFound();
      if (given.name !== undefined) await expectFreeName(organization, given.name);
      const id = newId(storage.clock);
      const auditStatus = organization.auditStatus ?? null;
      const filing = { organizationId, request: { ...given, id, identityId }, auditStatus };
      await certificates.replace(id, certificateImage, identityId, () => filings.run(filing));
      return get(id);
    },

    /** The requests of an organization, newest first. @throws errors.notFound */
    async list(organizationId: string, query: ListQuery): Promise<ListAnswer<ChangeRequest>> {
      if (!(await Organizations.exists({ _id: organizationId }))) throw errors.notFound();
      const source = { scope: { organizationId }, show, complete: addCertificates };
      return lists.answer(changeRequestList, Requests, source, query);
    },

    /**
     * Decides a pending request; approving it applies it.
     * @throws errors.notFound, changeRequestNotFound, changeRequestDecided, nameTaken
     */
    async decide(
      { organizationId, changeRequestId }: { organizationId: string; changeRequestId: string },
      status: Decision['status'],
      decidedBy: string,
    ): Promise<ChangeRequest> {
      if (!(await Organizations.exists({ _id: organizationId }))) throw errors.notFound();
      const decision = { status, decisionId: newId(storage.clock), decidedBy, decidedAt: storage.clock.now() };
      await decisions.run({ organizationId, changeRequestId, ...decision });
      return get(changeRequestId);
    },
  };
}
