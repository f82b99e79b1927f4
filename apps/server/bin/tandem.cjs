#!/usr/bin/env node
'use strict';
// Plain old JavaScript, since the versions of Node that it refuses have to read it.
var NEEDED = [20, 19];

var given = process.versions.node.split('.').map(Number);
if (given[0] > NEEDED[0] || (given[0] === NEEDED[0] && given[1] >= NEEDED[1])) {
  void require('./start.cjs').start();
} else {
  console.error(
    'Tandem needs Node ' + NEEDED.join('.') + ' or later, not ' + process.versions.node + ': install it from https://nodejs.org',
  );
  process.exitCode = 1;
}
