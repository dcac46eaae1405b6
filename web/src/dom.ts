// Elements from code. Texts become text nodes, never markup: names in a result come from files that
// nobody vouches for.

export type Child = Node | string | null | undefined | false;
// A part of the report; nothing where the result has none of it.
export type Part = HTMLElement | null;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child): child is Node | string => !!child));
  return element;
}

const kSvg = 'http://www.w3.org/2000/svg';

export function s(
  tag: string, attributes: Record<string, string | number> = {}, ...children: Child[]
): SVGElement {
  const element = document.createElementNS(kSvg, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  element.append(...children.filter((child): child is Node | string => !!child));
  return element;
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h('section', {id, 'aria-labelledby': `${id}-title`},
           h('h2', {id: `${id}-title`}, title), ...children);
}

// A name that breaks after its underscores rather than anywhere.
export function breakable(name: string): HTMLElement {
  const [first, ...others] = name.split(/(?<=_)/);
  return h('span', {}, first, ...others.flatMap(part => [h('wbr'), part]));
}

// A horizontal bar filled to `share`; the number stands beside it in text.
export function meter(share: number, kind: string): HTMLElement {
  const fill = h('span', {class: `fill ${kind}`});
  fill.style.width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
  return h('span', {class: 'meter', 'aria-hidden': 'true'}, fill);
}

export type Column<Row> = {
  title: string;
  cell: (row: Row) => Child;
  text?: boolean;  // left-aligned prose; else a right-aligned number
  wide?: boolean;  // takes a line of its own on a narrow screen
};

// On narrow screens a row becomes a block of labelled values (style.css), which takes away the
// table semantics of its elements: the roles keep them.
export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[]): HTMLElement {
  const head = h('tr', {role: 'row'}, ...columns.map(
    column => h('th', {scope: 'col', role: 'columnheader', class: column.text ? 'text' : 'number'},
                column.title)));
  const body = rows.map(row => h('tr', {role: 'row'}, ...columns.map((column, index) => {
    const attributes = {
      'class': `${column.text ? 'text' : 'number'}${column.wide ? ' wide' : ''}`,
      'data-label': column.title,
      'role': index === 0 ? 'rowheader' : 'cell',
    };
    const value = h('span', {class: 'value'}, column.cell(row));
    return index === 0 ? h('th', {...attributes, scope: 'row'}, value) : h('td', attributes, value);
  })));
  return h('table', {role: 'table'}, h('caption', {}, caption),
           h('thead', {role: 'rowgroup'}, head), h('tbody', {role: 'rowgroup'}, ...body));
}

// A table whose later rows show on request.
export function longTable<Row>(
  caption: string, columns: Column<Row>[], rows: Row[], shown: number
): HTMLElement {
  if (rows.length <= shown) return table(caption, columns, rows);
  const holder = h('div', {}, table(caption, columns, rows.slice(0, shown)));
  const button = h('button', {type: 'button', class: 'more'}, `Show all ${rows.length}`);
  button.addEventListener('click', () => holder.replaceChildren(table(caption, columns, rows)));
  holder.append(button);
  return holder;
}
