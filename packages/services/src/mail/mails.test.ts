import { startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';

it('a server sends what is queued at once, by the mail server of its configuration', async () => {
  await using app = await startTestServer();
  await app.tandem.services.mails.enqueue([{ template: 'deactivated', to: 'ann@example.org' }]);
  const mail = await app.mail.next('ann@example.org');
  expect(mail).toMatchObject({ from: 'Tandem <no-reply@tandem.test>', subject: 'Your account is deactivated' });
  await app.tandem.services.mails.work();
  expect(app.mail.count('ann@example.org')).toBe(1);
});
