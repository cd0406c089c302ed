/** The log channel as the language client's tracer sees it: what carries keys is named, never shown. */

import type { LogOutputChannel } from 'vscode';

/** A view of `output` whose `trace` leaves out the body of `chatls/secrets`, however verbose tracing is set. */
export function withoutSecrets(output: LogOutputChannel): LogOutputChannel {
  return new Proxy(output, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'trace') {
        return (message: string, ...rest: unknown[]) =>
          message.includes('chatls/secrets') ? target.trace('chatls/secrets (not shown)') : target.trace(message, ...rest);
      }
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
