/** One mail, ready to send. */
export interface Mail {
  /** One address, without a name. */
  to: string;
  /** An address, or `Name <address>`. */
  from: string;
  subject: string;
  text: string;
  html: string;
  /** `<word@domain>`, the same for each attempt, so that mail systems drop duplicates. */
  messageId: string;
}

/** Sends mails. A host application may pass its own. */
export interface MailDriver {
  /**
   * Passes a mail on for delivery. Completes or fails in bounded time, whatever the other side does.
   * @throws what went wrong; `responseCode`, a number, is the SMTP code and may be logged, as may `code`
   */
  send(mail: Mail): Promise<void>;
  /** Removes what it keeps of mails to these addresses, or about them. @throws what went wrong */
  forget?(addresses: readonly string[]): Promise<void>;
  /** Whether mails can be sent: for `tandem doctor`. @throws what is wrong */
  verify?(): Promise<void>;
  /** Closes connections. Mails being sent fail. */
  close(): Promise<void>;
}
