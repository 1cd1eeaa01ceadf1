// Conveniences of the console. Every page works without this script.

// The slash focuses the search of the page, or else its first filter.
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, select, textarea') !== null;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
  const field = document.querySelector('main input[type="search"], main form.filters input:not([type="hidden"])');
  if (field === null) return;
  event.preventDefault();
  field.focus();
});

// The content of a page that moves is read again, so that the place on the page and the focus stay.
async function follow() {
  const seconds = Number(document.querySelector('main').dataset.refresh);
  if (!(seconds > 0)) return;
  await new Promise((done) => setTimeout(done, seconds * 1000));
  try {
    const answer = await fetch(location.href, { redirect: 'error' });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const [present, next] = [document.querySelector('main'), page.querySelector('main')];
    const isInUse = present.querySelector('input:focus, select:focus, button:focus') !== null;
    // A form that changed meanwhile must not change under the hands of its reader.
    if (answer.ok && next !== null && !isInUse) present.replaceWith(document.adoptNode(next));
    // The head has the state of the period, which the action may have changed.
    const [period, nextPeriod] = [document.querySelector('.period'), page.querySelector('.period')];
    if (answer.ok && period !== null && nextPeriod !== null) period.replaceWith(document.adoptNode(nextPeriod));
  } catch {
    // The network or the session is gone. The next attempt shows whether it is back.
  }
  await follow();
}
follow();
