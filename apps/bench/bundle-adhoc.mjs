// ad hoc: what the look-up of sessions costs
import { withStage } from './bundle/stage.js';
import { enrol, CROWDED, createCrowd } from './bundle/crowds.js';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
const cpuOf = (pid) => { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' '); return (Number(f[11]) + Number(f[12])) * 10000; };
const engine = () => readdirSync('/proc').find((p) => /^\d+$/.test(p) && (() => { try { return readFileSync(`/proc/${p}/cmdline`, 'utf8').includes('engine-host') && readFileSync(`/proc/${p}/stat`, 'utf8').includes(`) S ${process.pid} `); } catch { return false; } })());
const STREAMS = 4000;
await withStage(true, async (stage) => {
  for (const people of [40, 4000]) {
    const server = await stage.start('tandem-server', CROWDED);
    const all = await enrol(server, stage.db, people);
    const crowd = await createCrowd(stage, STREAMS);
    await crowd.open(server.url, Array.from({ length: STREAMS }, (_, at) => ({ accessToken: all[at % people].accessToken })));
    await wait(5000);
    const e = engine();
    const [a, b] = [await server.cpu(), cpuOf(e)];
    const t = performance.now();
    await wait(60000);
    const s = (performance.now() - t) / 1000;
    console.log(people, 'people: server', ((await server.cpu()) - a) / s, 'us/s; engine', (cpuOf(e) - b) / s, 'us/s');
    await crowd.shut(STREAMS);
    await server.stop();
  }
});
