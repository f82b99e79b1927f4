'use strict';
// A file of its own, since the oldest versions of Node cannot read `import()`.
exports.start = function start() {
  return import('../dist/main.js');
};
