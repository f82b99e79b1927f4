import { afterAll } from 'vitest';
import { releaseDatabase } from './databases.js';

// a set-up file's hook is the last of each test file
afterAll(releaseDatabase);
