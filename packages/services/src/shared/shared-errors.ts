import { authenticationErrors, originErrors, requestErrors, ruleErrors } from '@tandem/core';
import { listErrors } from '@tandem/lists';
import { fileAddressErrors, fileErrors } from '../files/files.errors.js';
import type { ErrorTables } from './define-service.js';

/** The declared errors that belong to no single service. */
export const SHARED_ERRORS = {
  'any request': requestErrors,
  authentication: authenticationErrors,
  'origin check': originErrors,
  rules: ruleErrors,
  files: fileErrors,
  'addresses of files': fileAddressErrors,
  lists: listErrors,
} as const satisfies ErrorTables;
