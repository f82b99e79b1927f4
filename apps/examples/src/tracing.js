import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

// traces of a server; load it first: node --import ./apps/examples/src/tracing.js apps/server/bin/tandem.cjs serve
if (isMainThread) {
  // this hook instruments ES modules
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': process.env['OTEL_SERVICE_NAME'] ?? 'tandem' }),
    // to OTEL_EXPORTER_OTLP_ENDPOINT, by default http://localhost:4318
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({
        // the query may contain tickets, and tokens of links
        requestHook: (span) => span.setAttribute('url.query', ''),
        ignoreIncomingRequestHook: ({ url = '' }) => url.startsWith('/health/') || url === '/metrics',
      }),
      // each middleware would be a span
      new ExpressInstrumentation({ ignoreLayersType: [ExpressLayerType.MIDDLEWARE, ExpressLayerType.ROUTER] }),
      new MongoDBInstrumentation(),
    ],
  });
  process.once('SIGTERM', () => void provider.forceFlush());
}
