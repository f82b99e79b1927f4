import { NEW_PASSWORD, newEmail, throughProvider } from '@tandem/testing';
import {
  type Attack,
  CHOSEN_AFTER,
  GUESS,
  type Holding,
  addPasskey,
  enter,
  knows,
  link,
  lives,
  makeKey,
  reads,
  reset,
} from './attack-steps.js';

/** Whether the attacker can do it, and what to know about that. */
type Cell = ['yes' | 'no', note?: string];

interface Row {
  /** Completes “the attacker can …”. */
  tries: string;
  /** Default: nobody is asked for a second step, and sign-ins name no fingerprint. */
  on?: 'codes' | 'fingerprints' | 'app' | 'passkey';
  cells: Record<Holding, Cell>;
  run(attack: Attack): Promise<boolean>;
}

/** One table for the document, and for its test, which makes every attempt. */
export const ATTACKS: Row[] = [
  {
    tries: 'read what the person can',
    cells: {
      'the mailbox': ['yes', 'by a reset, of which the person learns at the next login'],
      'the password': ['yes'],
      'the phone': ['yes', 'a passkey needs no password'],
      'a session': ['yes', 'until it ends'],
    },
    run: reads,
  },
  {
    tries: 'the same, with `MFA_ENABLED`',
    on: 'codes',
    cells: {
      'the mailbox': ['yes', 'the code comes there, too'],
      'the password': ['no'],
      'the phone': ['yes', 'likewise'],
      'a session': ['yes', 'it has passed the second step'],
    },
    run: reads,
  },
  {
    tries: 'the same, where the person has an authenticator app alone',
    on: 'app',
    cells: {
      'the mailbox': ['no', 'a reset removes no factor, and no code is mailed'],
      'the password': ['no'],
      'the phone': ['no', 'it shows codes alone'],
      'a session': ['yes', 'it has passed the second step'],
    },
    run: reads,
  },
  {
    tries: 'the same, where the person has a passkey',
    on: 'passkey',
    cells: {
      'the mailbox': ['no', 'as above'],
      'the password': ['no'],
      'the phone': ['yes'],
      'a session': ['yes', 'as above'],
    },
    run: reads,
  },
  {
    tries: 'do so from another device, where the sign-in named a fingerprint',
    on: 'fingerprints',
    cells: {
      'the mailbox': ['yes', 'a sign-in of one’s own names another'],
      'the password': ['yes', 'likewise'],
      'the phone': ['yes', 'likewise'],
      'a session': ['no', 'without the fingerprint'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && lives(attack, { accessToken: session.accessToken });
    },
  },
  {
    tries: 'set another password',
    cells: {
      'the mailbox': ['yes'],
      'the password': ['yes', 'a mail tells the person'],
      'the phone': ['no', 'needs the present one'],
      'a session': ['no', 'needs the present one'],
    },
    async run(attack) {
      const session = await enter(attack);
      const given = { password: attack.password ?? GUESS, newPassword: NEW_PASSWORD };
      await attack.server.rest('PATCH', `/auth/${attack.victim.id}/change-password`, given, session);
      return knows(attack, attack.victim.email, NEW_PASSWORD);
    },
  },
  {
    tries: 'put another email in place',
    cells: {
      'the mailbox': ['yes', 'a mail goes to the old one'],
      'the password': ['yes', 'likewise'],
      'the phone': ['no', 'needs the password'],
      'a session': ['no', 'needs the password'],
    },
    async run(attack) {
      const session = await enter(attack);
      const email = newEmail();
      const given = { email, password: attack.password ?? GUESS };
      const { status } = await attack.server.rest('PATCH', `/auth/${attack.victim.id}/change-email`, given, session);
      if (status !== 204) return false;
      const { token } = await attack.server.mail.next(email);
      await attack.server.rest('POST', '/auth/confirm-new-email', { token }).expect(204);
      return knows(attack, email, attack.password ?? GUESS);
    },
  },
  {
    tries: 'link an account at a provider, to sign in by it',
    cells: {
      'the mailbox': ['yes', 'a mail tells the person'],
      'the password': ['yes', 'likewise'],
      'the phone': ['no', 'needs the password'],
      'a session': ['no', 'needs the password'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && (await link(attack, session)) !== undefined;
    },
  },
  {
    tries: 'make an API key',
    cells: {
      'the mailbox': ['yes'],
      'the password': ['yes'],
      'the phone': ['yes'],
      'a session': ['no', 'ten minutes after its sign-in'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && (await makeKey(attack, session)) !== undefined;
    },
  },
  {
    tries: 'add a passkey of their own',
    cells: {
      'the mailbox': ['yes', 'a mail tells the person'],
      'the password': ['yes', 'likewise'],
      'the phone': ['yes', 'likewise'],
      'a session': ['no', 'needs a proof, ten minutes after its sign-in'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && (await addPasskey(attack, session)) !== undefined;
    },
  },
  {
    tries: 'remove the person’s factors',
    on: 'passkey',
    cells: {
      'the mailbox': ['no'],
      'the password': ['no'],
      'the phone': ['yes', 'a mail tells the person'],
      'a session': ['no', 'needs a proof'],
    },
    async run(attack) {
      const { server, victim } = attack;
      const session = await enter(attack);
      const admin = await server.signUpAdmin();
      const list = () => admin.rest('GET', `/auth/${victim.id}/factors`).expect<{ data: { id: string }[] }>(200);
      for (const { id } of (await list()).data)
        await server.rest('DELETE', `/auth/${victim.id}/factors/${id}`, undefined, session);
      return (await list()).data.length === 0;
    },
  },
  {
    tries: 'sign the person out everywhere',
    cells: { 'the mailbox': ['yes'], 'the password': ['yes'], 'the phone': ['yes'], 'a session': ['yes'] },
    async run(attack) {
      const { server, victim } = attack;
      const session = await enter(attack);
      await server.rest('DELETE', `/auth/${victim.id}/refresh-tokens`, undefined, session);
      return !(await lives(attack, victim.credentials));
    },
  },
  {
    tries: 'go on when the person signs out',
    cells: {
      'the mailbox': ['yes', 'sessions of one’s own go on'],
      'the password': ['yes', 'likewise'],
      'the phone': ['yes', 'likewise'],
      'a session': ['no', 'ends within a second'],
    },
    async run(attack) {
      const session = await enter(attack);
      // who came by a reset has signed the person out already
      await attack.server.rest('POST', '/auth/logout', {}, attack.victim.credentials);
      return session !== undefined && lives(attack, session);
    },
  },
  {
    tries: 'stay when the person resets the password',
    cells: {
      'the mailbox': ['yes', 'resets it again: the mailbox must be safe first'],
      'the password': ['yes', 'by a provider linked before: unlink it'],
      'the phone': ['yes', 'a reset removes no passkey: delete it'],
      'a session': ['no'],
    },
    async run(attack) {
      const { server, idp } = attack;
      const session = await enter(attack);
      const account = session && (await link(attack, session));
      const key = session && (await makeKey(attack, session));
      await reset(attack, CHOSEN_AFTER);
      const ways = [session, key].filter((one) => one !== undefined);
      if ((await Promise.all(ways.map((one) => lives(attack, one)))).includes(true))
        throw new Error('a session or key outlives a reset');
      if (attack.mailbox) {
        await reset(attack, NEW_PASSWORD);
        return knows(attack, attack.victim.email, NEW_PASSWORD);
      }
      if (attack.phone) return reads(attack);
      const back = account && (await throughProvider(server, idp, { account }));
      return back?.searchParams.has('onetimeToken') === true;
    },
  },
];
