import { startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

async function get(url: string) {
  const response = await fetch(url);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the console', () => {
  it('is one page for all its paths, with immutable assets and a policy that lets nothing else in', async () => {
    await using app = await startTestServer();
    const page = await get(`${app.url}/console`);
    expect(page.status).toBe(200);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    for (const path of ['/console/', '/console/chat/019c7d2e'])
      expect(await get(`${app.url}${path}`)).toMatchObject({ status: 200, text: page.text });
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none';script-src 'self';style-src 'self';");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|https?:(?!\/\/)/);

    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string);
    expect(links.length).toBeGreaterThan(2);
    for (const link of links) {
      const { status, headers } = await get(new URL(link, `${app.url}/console`).href);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
    const { status, text } = await get(`${app.url}/console/settings.json`);
    expect({ status, text }).toEqual({ status: 200, text: '{"authMode":"bearer","adminTypeId":"admin"}' });
  });

  it('has no other files, and redirects links of mails to its pages', async () => {
    await using app = await startTestServer();
    const notFound = { status: 404, text: '{"error":{"message":"Not Found"}}' };
    for (const file of ['none.js', '..%2findex.html', '%2e%2e%2f%2e%2e%2fpackage.json', '..%5c..%5cpackage.json'])
      expect(await get(`${app.url}/console/assets/${file}`)).toMatchObject(notFound);
    for (const name of ['confirm-email', 'confirm-new-email', 'reset-password', 'invitation']) {
      const { status, headers } = await fetch(`${app.url}/${name}?token=a%2Fb`, { redirect: 'manual' });
      expect({ status, to: headers.get('location') }).toEqual({ status: 302, to: `console/${name}?token=a%2Fb` });
    }
  });

  it('is switched off by its configuration', async () => {
    await using app = await startTestServer({ console: false });
    for (const path of ['/console', '/console/settings.json', '/confirm-email?token=x'])
      expect(await get(`${app.url}${path}`)).toMatchObject({ status: 404, text: '{"error":{"message":"Not Found"}}' });
  });
});
