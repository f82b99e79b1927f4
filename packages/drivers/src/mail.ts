export type { Mail, MailDriver } from './mail/mail.driver.js';
export { isMailUrl, openMailDriver } from './mail/open-mail-driver.js';
