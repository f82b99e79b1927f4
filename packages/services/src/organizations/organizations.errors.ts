import { defineErrors } from '@tandem/core';

/** Maximum number of members, which are stored inside the organization's record. */
export const MAX_MEMBERS = 10_000;

/** Maximum depth of the organization tree. */
export const MAX_DEPTH = 50;

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const organizationErrors = defineErrors('organizations', {
  notFound: [404, 'Organization not found'],
  nothingToUpdate: [400, 'Failed to update organization'],
  nameTaken: [400, 'Organization with name {name} already exists with same owner'],
  nameTakenMeanwhile: [409, 'Organization with name {name} already exists with same owner'],
  noOwnerLeft: [409, 'There must be at least one owner remaining in the organization'],
  tooManyMembers: [409, `An organization must NOT have more than ${MAX_MEMBERS} members`],
  invalidRoles: [422, 'One or more members have invalid roles'],
  memberNotFound: [404, 'Member not found'],
  changeRequestNotFound: [404, 'Change request not found'],
  changeRequestDecided: [409, 'Change request is already decided'],
  noRole: [404, 'No role found for member'],
  cycle: [409, 'Organization cannot be below itself'],
  tooDeep: [409, `Organizations must NOT be nested more than ${MAX_DEPTH} levels deep`],
});
