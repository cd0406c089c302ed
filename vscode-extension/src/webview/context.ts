/** The Context view's script: hands the page to {@link mountContext} with the editor's own message channel. */

import type { FromContext } from '../views/context-state';
import { mountContext } from './context-page';
import { loadStrings } from './dom';

declare function acquireVsCodeApi(): { postMessage(message: FromContext): void };

const vscode = acquireVsCodeApi();
loadStrings(JSON.parse(document.getElementById('strings')?.textContent || '{}'));
mountContext((message) => vscode.postMessage(message));
