'use strict';
// A file of its own, since the oldest versions of Node cannot read `import()`.
exports.start = function start() {
  // slow to load, and 5 MB: in production, NODE_OPTIONS=--enable-source-maps
  if (process.env.NODE_ENV === 'development') process.setSourceMapsEnabled(true);
  return import('../bundle/tandem.js');
};
