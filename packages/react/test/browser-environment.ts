import { Window } from 'happy-dom';
import type { Environment } from 'vitest/runtime';
import { WebSocket } from 'ws';

/** The parts of a page that React and the hooks use. Requests and sockets are Node's, since the servers are real. */
const environment: Environment = {
  name: 'browser',
  viteEnvironment: 'ssr',
  setup(global: Record<string, unknown>) {
    const window = new Window({ url: 'http://localhost/' });
    const { document, navigator, localStorage, HTMLIFrameElement } = window;
    const addEventListener = window.addEventListener.bind(window);
    const removeEventListener = window.removeEventListener.bind(window);
    const page = {
      window,
      document,
      navigator,
      localStorage,
      HTMLIFrameElement,
      WebSocket,
      addEventListener,
      removeEventListener,
    };
    const before = new Map(Object.keys(page).map((key) => [key, Object.getOwnPropertyDescriptor(global, key)]));
    for (const [key, value] of Object.entries(page))
      Object.defineProperty(global, key, { value, configurable: true, writable: true });
    return {
      async teardown() {
        for (const [key, descriptor] of before) {
          if (descriptor) Object.defineProperty(global, key, descriptor);
          else Reflect.deleteProperty(global, key);
        }
        await window.happyDOM.close();
      },
    };
  },
};
export default environment;
