import { expect } from 'vitest';
import type { UnitKind, UnitWorld } from './unit-world.js';

/** The units of products, their variants, organizations and message templates. */
export function recordKinds(world: UnitWorld): Record<string, UnitKind> {
  const { send, made, rows, statusOf, named, bodyOf, reviveAndPatch, reviveAndDelete, found } = world;
  const newProduct = (organizationId?: string) => ({ name: 'Lamp', description: '', ...(organizationId && { organizationId }) });
  const aProduct = (organizationId?: string) => made('/products', newProduct(organizationId));
  const aVariant = (product: string) => made(`/products/${product}/variants`, { title: 'Red' });
  const productWithVariant = async (organization?: string) => {
    const product = await aProduct(organization);
    return { product, variant: await aVariant(product) };
  };

  const productIn = async () => {
    const organization = await found();
    return { organization, product: await aProduct(organization) };
  };
  const aTemplate = async () => {
    const greeting = { title: 'Hello', content: 'Hello', organizationId: await found() };
    return { template: await made('/message-templates', greeting) };
  };
  const lookAtProduct = async ({ product }: Record<string, string>) => ({
    product: await statusOf(`/products/${product}`),
    variants: ((await send('GET', `/products/${product}/variants`)) as { body: { data?: unknown[] } }).body.data?.length,
  });
  const lookAtOrganization = async ({ organization, product }: Record<string, string>) => ({
    organization: await statusOf(`/organizations/${organization}`),
    product: await statusOf(`/products/${product}`),
  });

  return {
    'products.insert': {
      prepare: async () => ({ organization: await found() }),
      request: ({ organization }) => ['POST', '/products/batch', [newProduct(organization), newProduct(organization)]],
      look: ({ organization }) => named(`/products/organizations/${organization}`),
      async change({ organization }) {
        const path = `/products/organizations/${organization}`;
        const [first] = await rows(path);
        if (!first) return async () => expect(await rows(path)).toEqual([]);
        const stands = await reviveAndPatch(`/products/${String(first['id'])}`, { name: 'newer' });
        return async () => {
          await stands();
          expect(await named(path)).toEqual(['Lamp', 'newer']);
        };
      },
    },
    'productVariants.insert': {
      prepare: async () => ({ product: await aProduct() }),
      request: ({ product }) => ['POST', `/product/${product}/variants/bulk`, [{ title: 'Green' }, { title: 'White' }]],
      look: ({ product }) => named(`/products/${product}/variants`, 'title'),
      async change({ product }) {
        const path = `/products/${product}/variants`;
        const [first] = await rows(path);
        if (!first) return async () => expect(await rows(path)).toEqual([]);
        await send('DELETE', `${path}/${String(first['id'])}`).expect(204);
        return async () => expect(await rows(path)).toHaveLength(1);
      },
    },
    'products.update': {
      prepare: async () => ({ one: await aProduct(), two: await aProduct() }),
      request: ({ one, two }) => ['PATCH', '/products/batch', { ids: [one, two], data: { name: 'bulk' } }],
      look: async ({ one, two }) => [(await bodyOf(`/products/${one}`))['name'], (await bodyOf(`/products/${two}`))['name']],
      change: ({ one }) => reviveAndPatch(`/products/${one}`, { name: 'newer' }),
    },
    'productVariants.update': {
      async prepare() {
        const product = await aProduct();
        return { product, one: await aVariant(product), two: await aVariant(product) };
      },
      request: ({ product, one, two }) => [
        'PATCH',
        `/product/${product}/variants/bulk`,
        { ids: [one, two], data: { sku: 'bulk' } },
      ],
      look: async ({ product }) => (await rows(`/products/${product}/variants`)).map(({ sku }) => sku),
      change: ({ product, one }) => reviveAndPatch(`/products/${product}/variants/${one}`, { sku: 'newer' }),
    },
    'products.delete': {
      prepare: () => productWithVariant(),
      request: ({ product }) => ['DELETE', '/products/batch', [product]],
      look: lookAtProduct,
      async change(given) {
        const stands = await reviveAndPatch(`/products/${given['product']}`, { name: 'newer' });
        return async () => {
          await stands();
          expect(await lookAtProduct(given)).toEqual({ product: 200, variants: 1 });
        };
      },
    },
    'productVariants.delete': {
      prepare: () => productWithVariant(),
      request: ({ product, variant }) => ['POST', `/product/${product}/variants/bulk-delete`, [variant]],
      look: lookAtProduct,
      change: ({ product, variant }) => reviveAndPatch(`/products/${product}/variants/${variant}`, { sku: 'newer' }),
    },
    'organizations.delete': {
      prepare: productIn,
      request: ({ organization }) => ['DELETE', `/organizations/${organization}`],
      look: lookAtOrganization,
      async change(given) {
        const stands = await reviveAndPatch(`/organizations/${given['organization']}`, { description: 'newer' });
        return async () => {
          await stands();
          expect(await lookAtOrganization(given)).toEqual({ organization: 200, product: 200 });
        };
      },
    },
    'products.restore': {
      async prepare() {
        const given = await productWithVariant();
        await send('DELETE', `/products/${given.product}`).expect(204);
        return given;
      },
      request: ({ product }) => ['POST', `/products/${product}/restore`],
      look: lookAtProduct,
      change: ({ product }) => reviveAndDelete(`/products/${product}`),
    },
    'productVariants.restore': {
      async prepare() {
        const given = await productWithVariant();
        await send('DELETE', `/products/${given.product}/variants/${given.variant}`).expect(204);
        return given;
      },
      request: ({ product, variant }) => ['POST', `/products/${product}/variants/${variant}/restore`],
      look: lookAtProduct,
      change: ({ product, variant }) => reviveAndDelete(`/products/${product}/variants/${variant}`),
    },
    'organizations.restore': {
      async prepare() {
        const given = await productIn();
        await send('DELETE', `/organizations/${given.organization}`).expect(204);
        return given;
      },
      request: ({ organization }) => ['POST', `/organizations/${organization}/restore`],
      look: lookAtOrganization,
      change: ({ organization }) => reviveAndDelete(`/organizations/${organization}`),
    },
    'messageTemplates.delete': {
      prepare: aTemplate,
      request: ({ template }) => ['DELETE', `/message-templates/${template}`],
      look: ({ template }) => statusOf(`/message-templates/${template}`),
      change: ({ template }) => reviveAndPatch(`/message-templates/${template}`, { title: 'newer' }),
    },
    'messageTemplates.restore': {
      async prepare() {
        const given = await aTemplate();
        await send('DELETE', `/message-templates/${given.template}`).expect(204);
        return given;
      },
      request: ({ template }) => ['POST', `/message-templates/${template}/restore`],
      look: ({ template }) => statusOf(`/message-templates/${template}`),
      change: ({ template }) => reviveAndDelete(`/message-templates/${template}`),
    },
    'webhooks.delete': {
      prepare: async () => ({ webhook: await made('/webhooks', { url: 'https://93.184.215.14/', types: ['order.*'] }) }),
      request: ({ webhook }) => ['DELETE', `/webhooks/${webhook}`],
      look: ({ webhook }) => statusOf(`/webhooks/${webhook}`),
      async change({ webhook }) {
        const path = `/webhooks/${webhook}`;
        // it comes back with its organization alone
        if ((await statusOf(path)) === 404) return async () => expect(await statusOf(path)).toBe(404);
        return reviveAndPatch(path, { description: 'newer' });
      },
    },
  };
}
