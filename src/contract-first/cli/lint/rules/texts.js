/** Descriptions are Markdown that pages show as HTML: nothing in them runs. */
const RUNNING = /<script\b|<[a-z][^>]*\bon[a-z]+\s*=|\bjavascript:|\beval\s*\(/i;

export default function texts() {
  return {
    any(node, { location, report }) {
      const [found] = RUNNING.exec(node?.description) ?? [];
      if (!found) return;
      report({ message: `A description must not have ${found}.`, location: location.child('description') });
    },
  };
}
