import { HAS_CHROMIUM, PASSWORD, fixture, startTestServer, type Person } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, alterAnswers, expectClean, launchChromium, offences, visit, type ConsolePage } from './chromium.js';

const TOKYO = { locale: 'ja-JP', timezoneId: 'Asia/Tokyo' };
/** What is the same in Japanese: names, units, codes of currencies and of programs. */
const NAMES =
  /\b(Tandem|API|Webhook|Node\.js|ID|IP|URL|SKU|JSON|REST|curl|Ctrl|Chrome|Linux|JPY|EUR|Asia\/Tokyo|UTC|English|null|node|order|product\.created)\b/g;
const ADDRESS = /[\w.+-]+@[\w.-]+/g;

/** The English words that people see or hear on a page. Ids, addresses and code are data. */
async function englishOn(page: Page): Promise<string[]> {
  const texts = await page.evaluate<string[]>(`(() => {
    const found = [];
    const isData = (element) => element.closest('code, pre, script, style, noscript, .secret, option') !== null;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (node.parentElement.checkVisibility() && !isData(node.parentElement)) found.push(node.data);
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [alt]'))
      if (!isData(element))
        for (const name of ['aria-label', 'title', 'placeholder', 'alt']) found.push(element.getAttribute(name) ?? '');
    for (const option of document.querySelectorAll('option')) if (!/[/]|^[A-Z]{3}$/.test(option.value)) found.push(option.text);
    return [...found, document.title];
  })()`);
  const words = texts.map((text) =>
    text
      .replaceAll(ADDRESS, '')
      .replaceAll(/Mozilla\/.*/g, '')
      .replaceAll(/…[0-9a-f]{6}|\b[0-9a-f]{6}\b|[0-9a-f]{8}-[\w-]{27}/g, '')
      .replaceAll(NAMES, ''),
  );
  return [...new Set(words.filter((text) => /[A-Za-z]{2}/.test(text)).map((text) => text.trim()))];
}

describe.skipIf(!HAS_CHROMIUM)('the console in Japanese (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  let admin: Person;
  let channelId: string;
  let orderId: string;
  let productId: string;
  beforeAll(async () => {
    admin = await app.signUpAdmin();
    const create = async (path: string, body: object) => (await admin.rest('POST', path, body).expect<{ id: string }>(201)).id;
    await create('/profiles', { identityId: admin.id, name: '佐藤 花子' });
    const organization = { name: '東京書店', description: '本の店です', contact_email: admin.email };
    const organizationId = await create('/organizations', { organization });
    const category = await create('/categories', { name: '文房具', description: '' });
    const price = { amount: 1200, currency: 'JPY' };
    productId = await create('/products', { name: '万年筆', description: '青', price, organizationId, categoryIds: [category] });
    orderId = await create('/orders', { identityId: admin.id, organizationId, items: [{ productId, quantity: 2 }] });
    channelId = await create('/channels', { name: '営業部', ownerId: admin.id });
    await create('/messages', { channelId, senderId: admin.id, content: 'おはようございます' });
  });

  async function signIn({ page, open }: ConsolePage, path: string): Promise<void> {
    await open(path);
    await page.getByLabel('メールアドレス', { exact: true }).fill(admin.email);
    await page.getByLabel('パスワード').fill(PASSWORD);
    await page.getByRole('button', { name: 'サインイン', exact: true }).click();
    await page.getByRole('button', { name: 'サインアウト', exact: true }).waitFor();
  }

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])('shows no English word but names, is accessible, and fits, on %s', { timeout: 400_000 }, async (_, screen) => {
    await using visitor = await visit(browser, app, { ...TOKYO, ...screen });
    const { page } = visitor;
    async function look(name: string): Promise<void> {
      await page.waitForLoadState('networkidle');
      expect(await englishOn(page), name).toEqual([]);
      expect(await offences(page), name).toEqual([]);
      await expectClean(visitor);
    }
    await visitor.open('/');
    await page.getByRole('heading', { name: 'サインイン' }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('ja');
    await look('sign-in');
    await signIn(visitor, '/');
    await page.getByRole('region', { name: '稼働状況' }).waitFor();
    await look('home');
    for (const [path, heading] of [
      ['/notifications', '通知'],
      ['/orders', '注文'],
      ['/products', '商品'],
      ['/catalogue', 'カタログ'],
      ['/organizations', '組織'],
      [`/chat/${channelId}`, '営業部'],
      ['/account', '言語と時刻'],
      ['/security', 'セキュリティ'],
      ['/sessions', 'セッション'],
      ['/audit', 'セキュリティ履歴'],
      ['/events', 'イベント'],
      ['/trash', 'ごみ箱'],
      [`/orders/${orderId}`, `注文 ${orderId.slice(-6)}`],
      [`/products/${productId}`, '万年筆'],
    ] as const) {
      await page.goto(`${app.url}/console${path}`);
      await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
      await look(path);
    }
    await page.getByRole('button', { name: '編集' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('名前').fill('');
    await form.getByLabel('金額').fill('高い');
    await form.getByRole('button', { name: '保存' }).click();
    await form.getByText('1文字以上で入力してください。').waitFor();
    await look('a form with errors');
  });

  it('says in Japanese what the server refuses', async () => {
    await using visitor = await visit(browser, app, TOKYO);
    const { page } = visitor;
    await visitor.open('/');
    await page.getByLabel('メールアドレス', { exact: true }).fill(admin.email);
    await page.getByLabel('パスワード').fill('not the password');
    await page.getByRole('button', { name: 'サインイン', exact: true }).click();
    await page.getByText('メールアドレスまたはパスワードが正しくありません。').waitFor();
    visitor.allow('401');
    await signIn(visitor, '/orders/019abeda-f8c0-748c-b721-a9913fe12e7a');
    await page.getByText('注文が見つかりません。').waitFor();
    visitor.allow('404');
    await expectClean(visitor);
  });

  it('says what only the server finds wrong, and leaves what it cannot say on a line of its own', async () => {
    await using visitor = await visit(browser, app, { ...TOKYO, ...DESKTOP });
    const { page } = visitor;
    await signIn(visitor, `/products/${productId}`);
    visitor.allow('400');
    const toast = page.locator('.toast > span');
    const save = async (amount: string) => {
      await page.getByRole('button', { name: '編集' }).click();
      await page.getByRole('dialog').getByLabel(/^金額/).fill(amount);
      await page.getByRole('dialog').locator('button[type=submit]').click();
    };
    await save('1200.5');
    await toast.getByText('金額：小数点以下は0桁までです。').waitFor();
    expect(await englishOn(page)).toEqual([]);
    await page.locator('.toast').getByRole('button', { name: '再試行' }).click();
    await page.getByRole('dialog').locator('.field-bad .problem', { hasText: '小数点以下は0桁までです。' }).waitFor();
    expect(await offences(page)).toEqual([]);
    await alterAnswers(page, 'products.patch', (text) => text.replace('must NOT have more than 0 decimals', 'is odd'));
    await page.reload();
    await save('1200.25');
    await toast.getByText('is odd').waitFor();
    expect((await toast.innerText()).split('\n')).toContain('price/amount is odd');
    await expectClean(visitor);
  });

  it('turns to another language at once, and keeps the choice; money and times are those of the reader', async () => {
    await using visitor = await visit(browser, app, { ...DESKTOP, locale: 'de-DE', timezoneId: 'America/New_York' });
    const { page } = visitor;
    await visitor.open('/account');
    await visitor.signIn(admin.email);
    await page.getByLabel('Language', { exact: true }).selectOption('日本語');
    await page.getByRole('button', { name: 'サインアウト', exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('ja');
    await page.getByLabel('タイムゾーン').selectOption('Asia/Tokyo');

    await page.goto(`${app.url}/console/orders/${orderId}`);
    await page.getByText('￥2,400').first().waitFor();
    const time = page.getByRole('article').locator('time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const shown = (locale: string, timeZone: string) =>
      new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'medium', timeStyle: 'short' }).format(at);
    expect(await time.getAttribute('title')).toBe(shown('ja', 'Asia/Tokyo'));

    await page.goto(`${app.url}/console/account`);
    await page.getByLabel('言語', { exact: true }).selectOption('English');
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    await page.getByLabel('Time zone').selectOption('');
    await page.goto(`${app.url}/console/orders/${orderId}`);
    await page.getByText('¥2,400').first().waitFor();
    expect(await time.getAttribute('title')).toBe(shown('en', 'America/New_York'));
    await expectClean(visitor);
  });

  it('takes the values of a filter as it shows them', async () => {
    await using visitor = await visit(browser, app, { ...TOKYO, ...DESKTOP });
    const { page } = visitor;
    await signIn(visitor, '/orders');
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    for (const [state, count] of [
      ['確認待ち', 1],
      ['発送済み', 0],
    ] as const) {
      await page.getByRole('button', { name: '絞り込み', exact: true }).click();
      await page.getByLabel('項目', { exact: true }).selectOption('ステータス');
      await page.getByLabel('値', { exact: true }).selectOption(state);
      await page.getByRole('button', { name: '追加', exact: true }).click();
      await page.locator('.chip', { hasText: state }).waitFor();
      await expect.poll(() => rows.count()).toBe(count);
      await page.locator('.chip').getByRole('button').click();
      await expect.poll(() => rows.count()).toBe(1);
    }
    await expectClean(visitor);
  });

  it('says of an event that it is sent, not delivered like a parcel', async () => {
    const asked = { url: 'https://nowhere.invalid/hooks', types: ['order.*'] };
    const { id } = await admin.rest('POST', '/webhooks', asked).expect<{ id: string }>(201);
    await admin.rest('POST', `/webhooks/${id}/test`).expect(201);
    await using visitor = await visit(browser, app, { ...TOKYO, ...DESKTOP });
    const { page } = visitor;
    await signIn(visitor, `/webhooks/${id}?tab=deliveries`);
    await page.locator('tbody .tag', { hasText: '送信待ち' }).first().waitFor();
    await page.getByRole('button', { name: '絞り込み', exact: true }).click();
    await page.getByLabel('項目', { exact: true }).selectOption('ステータス');
    const states = await page.getByLabel('値', { exact: true }).getByRole('option').allInnerTexts();
    expect(states).toEqual(['送信待ち', '送信済み', '失敗']);
    await page.getByLabel('グループ化').selectOption('ステータス');
    await page.getByRole('rowheader', { name: '送信待ち' }).waitFor();
    await expectClean(visitor);
  });
});
