/** The memory graph's script: hands the page to {@link mountGraph} with the editor's own message channel. */

import type { FromGraph } from '../views/graph-data';
import { loadStrings } from './dom';
import { mountGraph } from './graph-page';

declare function acquireVsCodeApi(): { postMessage(message: FromGraph): void };

const vscode = acquireVsCodeApi();
loadStrings(JSON.parse(document.getElementById('strings')?.textContent || '{}'));
mountGraph((message) => vscode.postMessage(message));
