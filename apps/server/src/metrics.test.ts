import { Gauge } from 'prom-client';
import { expect, it } from 'vitest';
import { createRegistry } from './metrics.js';

it('the process is measured once for all of its servers, and what a server adds is its own', async () => {
  const [one, other] = [createRegistry(), createRegistry()];
  const measured = one.getMetricsAsArray();
  expect(other.getMetricsAsArray()).toHaveLength(measured.length);
  expect(other.getMetricsAsArray().every((metric, at) => metric === measured[at])).toBe(true);
  one.registerMetric(new Gauge({ name: 'own', help: 'of one', registers: [] }));
  expect(await one.metrics()).toContain('own 0');
  expect(await other.metrics()).toContain('nodejs_gc_duration_seconds');
  expect(await other.metrics()).not.toContain('own 0');
});
