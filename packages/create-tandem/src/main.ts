#!/usr/bin/env node
// nothing else is loaded before: older versions of Node cannot read it
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`create-tandem needs Node 20.19 or later; this is ${process.versions.node}`);
  process.exitCode = 1;
} else {
  const { main } = await import('./command-line.js');
  await main();
}
