'use strict';
// A file of its own, since the oldest versions of Node cannot read `import()`.
var v8 = require('node:v8');

exports.start = function start() {
  // slow to load, and 5 MB: in production, NODE_OPTIONS=--enable-source-maps
  if (process.env.NODE_ENV === 'development') process.setSourceMapsEnabled(true);
  // most of what a start makes stays: room for its garbage would be 25 MB that nobody needs, and that stay too
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  return import('../bundle/tandem.js').finally(() => {
    v8.setFlagsFromString('--semi-space-growth-factor=2');
    // by default garbage may grow to three times what is used, where the machine has much memory
    v8.setFlagsFromString('--heap-growing-percent=60');
  });
};
