/** One mail, ready to be sent. */
export interface Mail {
  /** One address, without a name. */
  to: string;
  /** An address, or `Name <address>`. */
  from: string;
  subject: string;
  text: string;
  html: string;
  /** `<word@domain>`, the same each time this mail is tried: by it mail systems drop doubles. */
  messageId: string;
}

/** How mails leave. A host may hand in one of its own. */
export interface MailDriver {
  /**
   * Hands a mail over to whoever delivers it. Answers or fails within some 15 s, whatever the other side does.
   * @throws what went wrong; `responseCode`, a number, is the SMTP code and may be logged, as may `code`
   */
  send(mail: Mail): Promise<void>;
  /** Whether mails can leave: for `tandem doctor`. @throws what is wrong */
  verify?(): Promise<void>;
  /** Lets go of connections. What is being sent fails. */
  close(): Promise<void>;
}
