/**
 * The script of the reference: it shows requests for the chosen server, key and language, sends them, searches, and
 * unfolds objects. The page can also be read without the script.
 */
import { followReading } from './contents.js';
import { create, goTo, startFigures, watchNear } from './figures.js';
import './send.js';

document.documentElement.classList.add('script');
document.querySelector('#page-server').hidden = false;
const base = document.querySelector('.base');
if (URL.canParse(base.textContent, location)) base.textContent = new URL(base.textContent, location).href;
startFigures(document);
followReading();

document.addEventListener('click', ({ target }) => {
  const { hash = '' } = target.closest('a[href^="#"]') ?? {};
  const place = document.getElementById(decodeURIComponent(hash.slice(1)));
  if (place) goTo(place);
});

/** Shows the fields of an object below the field that contains the object. If they are already shown, hides them. */
function unfold(press, link) {
  const isOpen = press.ariaExpanded === 'true';
  press.ariaExpanded = String(!isOpen);
  const place = link.closest('dt').nextElementSibling;
  if (isOpen) return place.querySelector('.unfolded').remove();
  const fields = document.getElementById(decodeURIComponent(link.hash.slice(1))).querySelector('.fields');
  const copy = create('div', { className: 'unfolded' }, ...fields.cloneNode(true).childNodes);
  for (const one of copy.querySelectorAll('[id]')) one.removeAttribute('id');
  for (const one of copy.querySelectorAll('.unfold')) one.remove();
  place.append(copy);
  addUnfolding(copy);
}

function addUnfolding(part) {
  for (const link of part.querySelectorAll('dt > a[href^="#object-"]:not(:has(code))')) {
    const press = create('button', { type: 'button', className: 'unfold', textContent: 'Fields' });
    press.ariaExpanded = 'false';
    press.ariaLabel = `Fields of ${link.textContent}`;
    press.addEventListener('click', () => unfold(press, link));
    link.after(' ', press);
  }
}

watchNear(document.querySelectorAll('.row .fields'), (fields, isNear) => {
  if (isNear && !fields.querySelector('.unfold')) addUnfolding(fields);
});
