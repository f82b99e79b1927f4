import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { newId, present, type Fence, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import { changedFields } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import { createUnitNotes, noting } from '../shared/unit-notes.js';
import { changeRequestModel, type ChangeRequestRecord } from './change-request.model.js';
import { changeRequestList, type ChangeRequest, type NewChangeRequest } from './change-requests.schemas.js';
import { afterChange, organizationModel, refusesName, type OrganizationRecord } from './organization.model.js';
import { organizationErrors as errors } from './organizations.errors.js';
import { createNameCheck } from './owner-names.js';

export type ChangeRequestsService = ReturnType<typeof createChangeRequestsService>;

interface ChangeRequestsOptions {
  storage: Storage;
  lists: Lists;
  certificates: Attachments;
}

/** The organization's `auditStatus` while a request is pending. */
const WAITING = 'waiting_for_review';

interface Filing {
  organizationId: string;
  request: { id: string; identityId: string; createdAt: Date } & Omit<NewChangeRequest, 'certificateImage'>;
  certificateImage: NewChangeRequest['certificateImage'];
  /** The organization's previous value. */
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

/** A change request without its certificate, which is stored apart. */
function show(record: ChangeRequestRecord): ChangeRequest {
  const { decisionId, ...shown } = present(record);
  return { ...shown, certificateImage: null, certificateImageUrl: null };
}

/** The fields that an approved request changes in its organization. */
function changesOf(request: ChangeRequestRecord): object {
  const { name, branchName, typeId, certifiedQualifications } = request;
  const { addressLine1, addressLine2, addressLine3, postalCode } = request;
  const lines = Object.entries({ addressLine1, addressLine2, addressLine3, postalCode }).filter(([, line]) => line !== null);
  const fields = Object.entries({ name, branchName, typeId, certifiedQualifications }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(fields), ...(lines.length > 0 && { address: Object.fromEntries(lines) }) };
}

/** Changes that owners ask for and admins decide (decisions R7). Units of work change request and organization together. */
export function createChangeRequestsService({ storage, lists, certificates }: ChangeRequestsOptions) {
  const Requests = storage.model(changeRequestModel);
  const Organizations = storage.model(organizationModel);
  const notes = createUnitNotes(Organizations);
  const expectFreeName = createNameCheck(storage);
  const pipeline = { updatePipeline: true } as const;
  const showOne = lists.one(changeRequestList, show);
  const completions = { certificateImage: addCertificates, certificateImageUrl: addCertificates };
  lists.tell('changeRequest', changeRequestList, { show, complete: completions });

  const filings = storage.defineUnit<Filing>({
    name: 'organizations.request change',
    steps: [
      {
        // comes first: nobody can decide a request that does not exist yet, so this cannot overwrite a decision
        name: 'organization',
        async run({ organizationId, request, certificateImage }, fence) {
          await certificates.hold(request.id, certificateImage, request.identityId, fence);
          const stages = [{ $set: { auditStatus: WAITING } }, noting(request.id)];
          const { matchedCount } = await Organizations.updateOne({ _id: organizationId, ...fence.open }, stages, pipeline);
          if (matchedCount === 0) throw errors.notFound();
        },
        isDone: ({ organizationId, request }) => notes.has(organizationId, request.id),
        async undo({ organizationId, request, auditStatus }) {
          const own = { _id: organizationId, notes: request.id, auditStatus: WAITING };
          // also where it was deleted meanwhile
          await Organizations.updateOne(own, { $set: { auditStatus } }).setOptions({ deleted: 'include' });
          await certificates.release(request.id);
          await notes.remove(organizationId, request.id);
        },
      },
      {
        name: 'request',
        run({ organizationId, request: { id, ...request } }) {
          const made = { organizationId, ...request, updatedAt: request.createdAt };
          return Requests.updateOne({ _id: id }, { $setOnInsert: made }, { upsert: true, timestamps: false });
        },
        // a later attempt with the same key may have made another one under the same id
        undo: ({ request: { id, createdAt } }) => Requests.deleteOne({ _id: id, createdAt }).setOptions({ hard: true }),
      },
      {
        name: 'forget',
        run: ({ organizationId, request }) => notes.remove(organizationId, request.id),
        undo: () => Promise.resolve(),
      },
    ],
  });

  /**
   * Reserves a pending request for this decision; of concurrent decisions one succeeds. @throws errors.changeRequestDecided,
   * changeRequestNotFound
   */
  async function take({ organizationId, changeRequestId: _id, ...decision }: Decision, { open }: Fence): Promise<void> {
    const pending = { _id, organizationId, status: 'pending', ...open } as const;
    const { matchedCount } = await Requests.updateOne(pending, { $set: decision });
    if (matchedCount > 0) return;
    if (!(await Requests.exists({ _id, organizationId }))) throw errors.changeRequestNotFound();
    throw errors.changeRequestDecided();
  }

  async function giveBack({ changeRequestId: _id, decisionId }: Decision): Promise<void> {
    const pending = { status: 'pending', decidedBy: null, decidedAt: null, decisionId: null };
    await Requests.updateOne({ _id, decisionId }, { $set: pending });
  }

  /** @throws errors.notFound, nameTaken */
  async function apply({ organizationId, changeRequestId, status, decisionId }: Decision, fence: Fence): Promise<void> {
    const request = await Requests.findById(changeRequestId).lean<ChangeRequestRecord>();
    const changes = request && status === 'approved' ? changesOf(request) : {};
    try {
      const set = { $set: changedFields({ ...changes, auditStatus: status }) };
      const stages = [set, ...afterChange(changes), noting(decisionId)];
      const { matchedCount } = await Organizations.updateOne({ _id: organizationId, ...fence.open }, stages, pipeline);
      if (matchedCount === 0) throw errors.notFound();
    } catch (error) {
      throw refusesName(error) ? errors.nameTaken({ name: request?.name ?? '' }) : error;
    }
  }

  const decisions = storage.defineUnit<Decision>({
    name: 'organizations.decide change',
    steps: [
      {
        name: 'request',
        run: take,
        isDone: async ({ changeRequestId: _id, decisionId }) => (await Requests.exists({ _id, decisionId })) !== null,
        undo: giveBack,
      },
      {
        name: 'organization',
        run: apply,
        // a sweep does not apply late, because the organization may have changed since; the admin decides again
        isDone: ({ organizationId, decisionId }) => notes.has(organizationId, decisionId),
        // a single write: if it failed there is nothing to undo
        undo: async () => {},
      },
      {
        name: 'forget',
        run: ({ organizationId, decisionId }) => notes.remove(organizationId, decisionId),
        undo: () => Promise.resolve(),
      },
    ],
  });

  async function get(changeRequestId: string): Promise<ChangeRequest> {
    return complete(await Requests.findById(changeRequestId).lean<ChangeRequestRecord>());
  }

  /** @throws errors.changeRequestNotFound */
  async function complete(record: ChangeRequestRecord | null): Promise<ChangeRequest> {
    const shown = showOne(record, errors.changeRequestNotFound);
    await addCertificates([shown]);
    return shown;
  }

  /** Adds the certificates to requests with one query. */
  async function addCertificates(requests: readonly ChangeRequest[]): Promise<void> {
    const files = await certificates.oneOf(requests.map(({ id }) => id));
    for (const request of requests) {
      request.certificateImage = files.get(request.id) ?? null;
      request.certificateImageUrl = request.certificateImage?.url ?? null;
    }
  }

  return {
    /**
     * Files a request and marks the organization as waiting for review.
     * @param identityId the identity that asks and uploaded the certificate
     * @throws errors.notFound, nameTaken; ATTACH_ERRORS
     */
    async create(
      organizationId: string,
      { certificateImage, ...given }: NewChangeRequest,
      identityId: string,
      id = newId(storage.clock),
    ): Promise<ChangeRequest> {
      const organization = await Organizations.findById(organizationId).lean<OrganizationRecord>();
      if (!organization) throw errors.notFound();
      const owners = (organization.members ?? []).filter(({ role }) => role === 'owner').map(({ identityId }) => identityId);
      if (given.name !== undefined) await expectFreeName(organizationId, given.name, owners);
      const auditStatus = organization.auditStatus ?? null;
      const filing = {
        organizationId,
        request: { ...given, id, identityId, createdAt: storage.clock.now() },
        certificateImage,
        auditStatus,
      };
      await filings.run(filing, id);
      if (certificateImage) await certificates.settleHeld(id);
      return get(id);
    },

    made: madeIn(Requests, complete),

    /** The requests of an organization, newest first. @throws errors.notFound */
    async list(organizationId: string, query: ListQuery): Promise<ListAnswer<ChangeRequest>> {
      if (!(await Organizations.exists({ _id: organizationId }))) throw errors.notFound();
      const source = { scope: { organizationId }, show, complete: completions };
      return lists.answer(changeRequestList, Requests, source, query);
    },

    /**
     * Decides a pending request, and applies it if approved.
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
