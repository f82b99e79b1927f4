import { FACES, NEW_PASSWORD, PASSWORD, newEmail, startTestServer, type Face, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCommonPassword } from './common-passwords.js';

const refusal = (field = 'password') => ({
  ok: false,
  status: 400,
  message: 'Validation Error',
  data: [`request body/${field} must NOT be a common password`],
});

let app: TestServer;
beforeAll(async () => {
  app = await startTestServer({ mail: { url: 'outbox:', from: 'Harbour Shop <no-reply@shop.test>', linksUrl: undefined, pollMs: 3_600_000 } }); // prettier-ignore
});
afterAll(() => app.close());

it.each([
  ['is frequent', ['password1', 'iloveyou', 'baseball', 'trustno1', '12345678', 'liverpool1']],
  ['is frequent in other letters and signs', ['PassWord1', 'P@ssw0rd', 'p@ssword', 'B4$eb@ll', 'tru5tn01']],
  ['is a sequence', ['abcdefgh', '987654321', 'HGFEDCBA', '67890123', 'abcdefgh12345678', '5432109876']],
  ['is a repetition', ['00000000', 'abcabcabc', 'zzzzzzzzzzzz', 'oxoxoxox', 'lighthouselighthouse', 'wxyzwxyzwx']],
  ['is a walk on the keyboard', ['qwertyuiop', '1qaz2wsx', 'zaq12wsx', 'poiuytrewq', '!QAZ@WSX', '!@#$%^&*()', 'qweasdzxc']],
  [
    'has spaces in it',
    ['0000 0000', 'p a s s w o r d', 'i love you', '1qaz 2wsx', ' password ', 'pass\u00A0word', '\u3000'.repeat(8)],
  ],
  ['is in another width', ['ｐａｓｓｗｏｒｄ', 'Ｐ＠ｓｓｗ０ｒｄ', '１２３４５６７８']],
  [
    'has characters in it that nobody sees',
    ['pass\u200Bword', 'pass\u00ADword', 'pass\u3164word', '\uFEFFpassword', '\u200B'.repeat(8)],
  ],
  [
    'is frequent, with digits and signs added',
    ['letmein123!', '2024-monkey', 'trustno1!', '!12345678', 'Summer 2024!', 'P@ssw0rd!', '$unsh1ne#7'],
  ],
  ['is frequent, with a pattern added', ['password!!!!!!!!', '12345678password', 'letmein 123123123']],
])('a password that %s is common', (_, passwords) => {
  expect(passwords.filter((password) => !isCommonPassword(password))).toEqual([]);
});

it('other passwords are accepted', () => {
  const passwords = [
    'tea at the harbour',
    PASSWORD,
    NEW_PASSWORD,
    'exactly8',
    'vK3#pq9!',
    'ваза у окна',
    'zebra quartz',
    '71940382',
    'correct horse battery staple',
    'monkey dragon shadow',
    'letmein 83x!7q',
    'password 7194038226',
    'ｔｅａ ａｔ ｔｈｅ ｈａｒｂｏｕｒ',
  ];
  expect(passwords.filter(isCommonPassword)).toEqual([]);
});

describe.each(FACES)('a common password, over %s,', (face) => {
  const register = (email: string, password: string, on = app) => on.call(face, 'auth.register', { email, password });

  it('is refused together with the other problems', async () => {
    expect(await app.call(face, 'auth.register', { email: 'nothing', password: 'P@ssw0rd' })).toMatchObject({
      data: ['request body/email must match format "email"', 'request body/password must NOT be a common password'],
    });
  });

  it.each([
    ['ann.smith92@mail.example', 'Ann.Smith92@mail.example'],
    ['ann.smith92@mail.example', 'annsmith1999!'],
    ['ann.smith92@mail.example', '2024-SMITH-ann'],
    ['ann.smith92@mail.example', 'smith2024'],
    ['ann.smith92@mail.example', '(example)1'],
    ['ann.smith92@mail.example', 'harbour.shop1'],
    ['ann.smith92@mail.example', 'HarbourShop_2024'],
    ['13800138021@mail.example', '13800138021!'],
    ['x@mail.example', 'x-2930174'],
    ['13800138021@mail.example', '138 0013 8021'],
    ['ann.smith92@mail.example', 'ｓｍｉｔｈ 2024'],
    ['ann.smith92@mail.example', 'smi\u3164th2024'],
  ])('of %s: %s is made of names, digits and signs', async (email, password) => {
    expect(await register(email, password)).toEqual(refusal());
  });

  it('may contain names if it has other words too', async () => {
    const id = crypto.randomUUID();
    for (const password of ['tea at the harbour', 'smith and sons 92', 'shopping at the smiths'])
      expect(await register(`ann.smith${id}-${password.length}@mail.example`, password)).toMatchObject({ ok: true });
  });
});

/** A way to set a password: the field it stands in, and whose it becomes. */
interface Way {
  field: 'password' | 'newPassword';
  email: string;
  set(password: string): Promise<unknown>;
}

/** Every operation by which somebody chooses a password. */
async function everyWay(face: Face, on: TestServer): Promise<Way[]> {
  const [ann, bob, cyd, admin] = [await on.signUp(), await on.signUp(), await on.signUp(), await on.signUpAdmin()];
  const linkTo = async (email: string) => (await on.mail.next(email, ({ token }) => token !== undefined)).token;
  const [fresh, invited] = [newEmail(), newEmail()];
  await on.rest('POST', '/auth/send-reset-password-link-email', { email: cyd.email }).expect(204);
  await admin.rest('POST', '/invitations', { email: invited }).expect(201);
  const [reset, invitation] = [await linkTo(cyd.email), await linkTo(invited)];
  const own = { identityId: ann.id, password: PASSWORD };
  return [
    { field: 'password', email: fresh, set: (password) => on.call(face, 'auth.register', { email: fresh, password }) },
    { field: 'password', email: invited, set: (password) => on.call(face, 'auth.register', { token: invitation, password }) },
    { field: 'password', email: cyd.email, set: (password) => on.call(face, 'auth.resetPassword', { token: reset, password }) },
    {
      field: 'newPassword',
      email: ann.email,
      set: (newPassword) => ann.call(face, 'auth.changePassword', { ...own, newPassword }),
    },
    {
      field: 'newPassword',
      email: bob.email,
      set: (newPassword) => admin.call(face, 'auth.changePassword', { identityId: bob.id, newPassword }),
    },
  ];
}

describe.each(FACES)('wherever a password is set over %s,', (face) => {
  it("a common one is refused, then one that the host's check refuses, which receives the email", async () => {
    const asked: string[] = [];
    const checkPassword = async (password: string, { email }: { email: string }) => {
      asked.push(`${email} ${password}`);
      return password !== 'a breached password';
    };
    await using host = await startTestServer({ code: { checkPassword } });
    const ways = await everyWay(face, host);
    asked.length = 0;
    for (const { field, email, set } of ways) {
      for (const password of ['P@ssw0rd', `${email.split('@', 1)[0]}!`]) expect(await set(password)).toEqual(refusal(field));
      expect(asked).toEqual([]);
      expect(await set('a breached password')).toEqual(refusal(field));
      expect(await set(NEW_PASSWORD)).toMatchObject({ ok: true });
      expect(asked.splice(0)).toEqual([`${email} a breached password`, `${email} ${NEW_PASSWORD}`]);
    }
  });
});

it('an admin created by a command may not have a common password', async () => {
  const { authentication } = app.tandem.services;
  for (const password of ['P@ssw0rd', 'the-boss-1', 'HarbourShop1'])
    await expect(authentication.createAdmin({ email: 'the-boss@example.org', password })).rejects.toMatchObject({
      data: ['request body/password must NOT be a common password'],
    });
});
