/** The main program of a team that has written every optional file: services, tokens and plugins. */
import { run } from '../src/contract-first/run.ts';
import type { Service } from '../src/contract-first/start/service.ts';

await run(async () => {
  const { service } = await import('../src/generated/service.ts');
  const whole: Service = {
    ...service,
    name: 'whole',
    version: '2.0.0',
    settings: { GREETING: { kind: 'text' } },
    buildServices: ({ GREETING }: { GREETING: string }) => ({ greeter: { check: async () => {}, GREETING } }),
    loadPlugins: async () => ({
      addPlugins: async (app) => {
        app.addHook('onRequest', async (_request, reply) => {
          reply.header(
            'greeting',
            (app.contractFirst.services as unknown as { greeter: { GREETING: string } }).greeter.GREETING,
          );
        });
      },
    }),
  };
  return { service: whole };
});
