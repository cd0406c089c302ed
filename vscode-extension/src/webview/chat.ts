/** The chat panel's script: hands the page to {@link mountPanel} with the editor's own message channel. */

import type { FromPanel } from '../panel';
import { loadStrings } from './dom';
import { mountPanel } from './panel-page';

declare function acquireVsCodeApi(): { postMessage(message: FromPanel): void };

const vscode = acquireVsCodeApi();
loadStrings(JSON.parse(document.getElementById('strings')?.textContent || '{}'));
mountPanel((message) => vscode.postMessage(message));
