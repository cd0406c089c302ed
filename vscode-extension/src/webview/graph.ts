/** The memory graph's script: hands the page to {@link mountGraph} with the editor's own message channel. */

import type { FromGraph, GraphState } from '../views/graph-data';
import { loadStrings } from './dom';
import { mountGraph } from './graph-page';

declare function acquireVsCodeApi(): {
  postMessage(message: FromGraph): void;
  getState(): GraphState | undefined;
  setState(state: GraphState): void;
};

const vscode = acquireVsCodeApi();
loadStrings(JSON.parse(document.getElementById('strings')?.textContent || '{}'));
mountGraph({ post: (message) => vscode.postMessage(message), keep: (state) => vscode.setState(state) }, vscode.getState());
