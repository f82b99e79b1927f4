import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { startMailServer } from '@tandem/testing';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openMailDriver, type MailDriver } from '../mail.js';
import { openSmtpMailDriver } from './smtp-mail.driver.js';

const MAIL = {
  to: 'ann@example.org',
  from: 'Tandem <no-reply@tandem.test>',
  subject: 'Grüße',
  text: 'Hello',
  html: '<p>Hello</p>',
  messageId: '<one@tandem.test>',
};

function open(...given: Parameters<typeof openSmtpMailDriver>): MailDriver {
  const driver = openSmtpMailDriver(...given);
  onTestFinished(() => driver.close());
  return driver;
}

/** A mail server that requires a password. */
async function startGuarded(options: SMTPServerOptions = {}): Promise<{ port: number; logins: string[] }> {
  const logins: string[] = [];
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 1,
    disableReverseLookup: true,
    onAuth({ username = '', password }, _session, done) {
      logins.push(`${username} ${password}`);
      done(null, { user: username });
    },
    onData(stream, _session, done) {
      stream.resume().once('end', () => done());
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return { port: (server.server.address() as AddressInfo).port, logins };
}

/** A server that accepts connections and then runs the given function. */
async function startListener(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((closed) => server.close(() => closed()));
  });
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a mail by SMTP', () => {
  it('arrives unchanged', async () => {
    await using server = await startMailServer();
    const driver = open(server.url);
    await driver.verify?.();
    await driver.send(MAIL);
    const { html, ...rest } = await server.next('ann@example.org');
    const { html: _, ...given } = MAIL;
    expect(rest).toEqual(given);
    expect(html).toContain('<p>Hello</p>');
  });

  it.each([
    ['Rye: Berlin <shop@tandem.test>', 'Rye: Berlin <shop@tandem.test>'],
    ['Rye (Berlin) <shop@tandem.test>', 'Rye (Berlin) <shop@tandem.test>'],
    ['"Rye, Inc." <shop@tandem.test>', 'Rye, Inc. <shop@tandem.test>'],
    ['shop@tandem.test', 'shop@tandem.test'],
  ])('comes from %s', async (from, shown) => {
    await using server = await startMailServer();
    await open(server.url).send({ ...MAIL, from });
    expect((await server.next('ann@example.org')).from).toBe(shown);
  });

  it('goes to one address, whatever characters it contains', async () => {
    await using server = await startMailServer();
    const driver = open(server.url);
    await driver.send({ ...MAIL, to: 'ann@example.org, evil@example.org' }).catch(() => {});
    await driver
      .send({ ...MAIL, to: 'ann@example.org\r\nBcc: evil@example.org', subject: 'a\r\nBcc: evil@example.org' })
      .catch(() => {});
    expect(server.count('evil@example.org')).toBe(0);
    expect(server.mails.filter(({ text }) => text.includes('Bcc'))).toEqual([]);
  });

  it('fails with the code of a refusing server, and the next one is sent', async () => {
    await using server = await startMailServer();
    const driver = open(server.url);
    server.refuse(451);
    await expect(driver.send(MAIL)).rejects.toMatchObject({ responseCode: 451, code: 'EENVELOPE' });
    server.refuse(false);
    await driver.send(MAIL);
    expect(server.mails).toHaveLength(1);
  });

  it('uses a new connection where the server has closed the old one', async () => {
    await using server = await startMailServer();
    const driver = open(server.url);
    await driver.send(MAIL);
    server.goAway(true);
    server.goAway(false);
    await driver.send(MAIL);
    expect(server.mails).toHaveLength(2);
  });

  it('fails when the driver is closed meanwhile', async () => {
    await using server = await startMailServer();
    const driver = open(server.url);
    server.stall(true);
    const sent = driver.send(MAIL);
    sent.catch(() => {});
    await server.whenHeld();
    await driver.close();
    await expect(sent).rejects.toMatchObject({ code: 'ECONNECTION' });
    await expect(driver.send(MAIL)).rejects.toMatchObject({ code: 'ECONNECTION' });
  });

  it('fails in time, whether the server is silent or slow', async () => {
    const sendMs = 1000;
    const silent = open(await startListener(() => {}), sendMs);
    const trickling = await startListener((socket) => {
      socket.write('220 slow\r\n');
      const timer = setInterval(() => socket.write('250-and so on\r\n'), 100);
      socket.once('close', () => clearInterval(timer));
    });
    const outcomes = await Promise.allSettled([silent.send(MAIL), open(trickling, sendMs).send(MAIL), silent.verify?.()]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ETIMEDOUT' } });
  });
});

describe('credentials', () => {
  it('are read from the address, decoded', async () => {
    const { port, logins } = await startGuarded({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    const driver = open(`smtp://us%40er:p%3Aa%2Fss%25@127.0.0.1:${port}`);
    await driver.send(MAIL);
    expect(logins).toEqual(['us@er p:a/ss%']);
  });

  it('use TLS from the first byte with smtps, and after STARTTLS with smtp', async () => {
    const [fromStart, upgraded] = [await startGuarded({ secure: true }), await startGuarded()];
    await open(`smtps://user:pass@127.0.0.1:${fromStart.port}?tls.rejectUnauthorized=false`).send(MAIL);
    await open(`smtp://user:pass@127.0.0.1:${upgraded.port}?tls.rejectUnauthorized=false`).send(MAIL);
    expect([fromStart.logins, upgraded.logins]).toEqual([['user pass'], ['user pass']]);
  });

  it('are never sent unencrypted over a network, unless the URL says so', async () => {
    // this machine, by an address that does not count as loopback
    const host = '0.0.0.0';
    const { port, logins } = await startGuarded({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    await expect(open(`smtp://user:pass@${host}:${port}`).send(MAIL)).rejects.toMatchObject({ code: 'ETLS' });
    expect(logins).toEqual([]);
    await open(`smtp://user:pass@${host}:${port}?requireTLS=false`).send(MAIL);
    expect(logins).toEqual(['user pass']);
  });

  it('are not repeated when the address is wrong', () => {
    for (const url of ['http://user:pass@example.org', 'smtp://', 'smtp:user:pass', 'outbox:x', 'pass'])
      expect(() => openMailDriver(url, { outboxDir: '' })).toThrow(
        /^a mail address must be outbox: or an smtp:\/\/ or smtps:\/\/ address$/,
      );
  });
});
