// The parts of the report that are sentences.

import type {Question, Result} from './data';
import {h, type Part, section} from './dom';

// Keeps a number and its unit on one line.
const unbroken = (text: string): string => text.replace(/(\d) (?=[%\p{L}])/gu, '$1\u00a0');

export function list(texts: string[]): HTMLElement {
  return h('ul', {class: 'prose'}, ...texts.map(text => h('li', {}, unbroken(text))));
}

export function advice(result: Result): Part {
  return result.advice.length === 0 ? null :
                                      section('advice', 'What to change', list(result.advice));
}

function question(item: Question, index: number): HTMLElement {
  const figures = item.figures.map(
      figure =>
          h('li', {}, h('span', {class: 'figure-name'}, figure.name),
            h('span', {class: 'formula'}, `= ${figure.formula}`),
            h('span', {class: 'formula'}, `= ${figure.numbers}`),
            h('span', {class: 'formula result'}, '= ', h('b', {}, figure.value))));
  return h(
      'li', {},
      h('details', index === 0 ? {open: ''} : {},
        h('summary', {}, h('span', {class: 'layer'}, item.layer), h('span', {}, item.question)),
        h('p', {}, unbroken(item.answer)),
        figures.length > 0 && h('ul', {class: 'figures'}, ...figures)));
}

export function explanation(result: Result): Part {
  return section(
      'explanation', 'Why: seven questions',
      h('p', {class: 'lede'},
        'From the way the model is split to the cable that limits it, with this run’s numbers.'),
      h('ol', {class: 'questions'}, ...result.explanation.map(question)));
}

export function assumptions(result: Result): Part {
  return result.assumptions.length === 0 ?
      null :
      section('assumptions', 'Assumptions', list(result.assumptions));
}

export function warnings(result: Result): Part {
  if (result.warnings.length === 0) return null;
  return section(
      'warnings', 'Warnings',
      list(result.warnings.map(
          warning =>
              `${warning.message} [${warning.code}]${warning.hint ? ' ' : ''}${warning.hint}`)));
}
