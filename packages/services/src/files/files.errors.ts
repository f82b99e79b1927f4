import { defineErrors } from '@tandem/core';

/** The errors of files (decisions, section 6). */
export const fileErrors = defineErrors('files', {
  notFound: [404, 'File not found'],
  notUploaded: [400, 'File has not been uploaded'],
  otherType: [400, 'File is not of the type that it was uploaded as'],
  alreadyAttached: [409, 'File is already attached'],
  beingUploaded: [409, 'Object is being uploaded'],
  quotaExceeded: [409, 'File quota is exceeded'],
  tooMany: [409, 'There must NOT be more than {max} files'],
  tooManyUnused: [429, 'Too many requests'],
});

/** Errors of the upload and download addresses that this server serves. */
export const fileAddressErrors = defineErrors('fileAddresses', {
  notAllowed: [403, 'Invalid or expired file address'],
  notFound: [404, 'File not found'],
  alreadyAttached: [409, 'Object is already attached'],
  wrongSize: [400, 'File is smaller than its address says'],
  tooLarge: [413, 'request entity too large'],
  wrongType: [415, 'Unsupported content type'],
  wrongRange: [416, 'Range Not Satisfiable'],
  noRoom: [503, 'Service Unavailable'],
});

/** The errors of procedures that attach a file. */
export const ATTACH_ERRORS = [
  fileErrors.notFound,
  fileErrors.notUploaded,
  fileErrors.otherType,
  fileErrors.alreadyAttached,
  fileErrors.beingUploaded,
  fileErrors.quotaExceeded,
] as const;
