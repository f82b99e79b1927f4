export type { FilesDriver, LocalFiles, StoredObject } from './files/files.driver.js';
export { isFilesUrl, openFilesDriver, type FilesDriverOptions } from './files/open-files-driver.js';
