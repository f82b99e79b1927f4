# The server alone, built from the sources, run by a plain user. docs/deployment.md says how.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci && npx turbo run build --filter=@tandem/server --output-logs=errors-only
# What runs needs fewer packages than what builds; of tRPC's peers TypeScript serves types alone.
RUN rm -rf node_modules packages/*/node_modules apps/*/node_modules \
  && npm ci --omit=dev --workspace @tandem/server \
  && rm -rf node_modules/typescript node_modules/@typescript \
  && rm -rf packages/*/src packages/*/test apps/server/src apps/console/src apps/console/test \
  && rm -rf packages/client packages/react packages/create-tandem packages/testing apps/bench apps/examples apps/generated-clients

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# docs/deployment.md: memory
ENV NODE_OPTIONS=--max-old-space-size=1024
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/packages packages
COPY --from=build /build/apps apps
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "apps/server/bin/tandem.cjs"]
CMD ["serve"]
