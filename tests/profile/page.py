"""The page of a recording in a real browser, every control of it used by events as a mouse and a keyboard
make them; then with 100,000 slices.

    page.py BROWSER PAGE.html FOLDER
"""
import json
import os
import re
import subprocess
import sys

SCRIPT = """
const said = {};
function want(name, holds) { said[name] = !!holds; }
function mouse(kind, x, y, more) {
  const box = document.getElementById('view').getBoundingClientRect();
  const e = new MouseEvent(kind, Object.assign({ clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true }, more));
  document.getElementById('view').dispatchEvent(e);
}
const length = () => tutti.view.to - tutti.view.from, press = id => document.getElementById(id).click();
try {
  const { view, data, xOf } = tutti, whole = length();
  want('all of it at first', view.from === 0 && whole === Math.max(data.ns, 50));
  want('something is drawn', view.drawn > 10);
  want('arrows are drawn', data.arrows.length > 0 && view.arrows > 0);
  want('a track for each device', data.tracks.filter(t => t.name.startsWith('device ')).length === DEVICES);
  want('tracks of workers', data.tracks.some(t => t.name.startsWith('tutti-')));
  want('the table', document.getElementById('table').textContent.includes('device 2 is busiest'));
  want('colours are explained', document.getElementById('keys').textContent.includes('wait'));
  press('in'); want('closer', Math.abs(length() - whole / 2) < 1);
  let from = view.from;
  press('right'); want('later', view.from > from);
  press('left'); want('earlier', Math.abs(view.from - from) < 1);
  press('out'); want('wider', Math.abs(length() - whole) < 1);
  for (const [key, holds] of [['w', () => length() < whole], ['d', () => view.from > 0], ['a', () => true], ['s', () => true], ['0', () => length() === whole]]) {
    window.dispatchEvent(new KeyboardEvent('keydown', { key }));
    want('key ' + key, holds());
  }
  const box = document.getElementById('view');
  const turn = y => box.dispatchEvent(new WheelEvent('wheel', { deltaY: y, clientX: 600, clientY: box.getBoundingClientRect().top + 40, bubbles: true, cancelable: true }));
  turn(-1); want('wheel goes closer', length() < whole);
  from = view.from;
  mouse('mousedown', 700, 40); mouse('mousemove', 600, 40); window.dispatchEvent(new MouseEvent('mouseup'));
  want('dragging', view.from > from);
  turn(1); press('all'); want('all', length() === whole);
  // The longest wait of device 0 is for device 2.
  const track = data.tracks[0], s = track.slices;
  let best = -1;
  for (let i = 0; i * 5 < s.length; i++)
    if (data.kinds[s[i * 5 + 3]] === 'wait' && (best < 0 || s[i * 5 + 1] > s[best * 5 + 1])) best = i;
  const x = xOf(s[best * 5] + s[best * 5 + 1] / 2), y = track.y + 4;
  mouse('mousemove', x, y);
  want('hover', document.getElementById('tip').style.display === 'block' && document.getElementById('tip').textContent.includes('device 2 came last'));
  mouse('click', x, y); want('picked', document.getElementById('picked').textContent.includes('slow_device_4.mlir:30'));
  mouse('mouseleave', x, y); want('hover ends', document.getElementById('tip').style.display === 'none');
  const pixel = box.getContext('2d').getImageData(Math.round(x * (window.devicePixelRatio || 1)), Math.round((y + 6) * (window.devicePixelRatio || 1)), 1, 1).data;
  want('waits are red', pixel[0] > 200 && pixel[2] < 100);
  const field = document.getElementById('search');
  field.value = 'WHILE'; field.dispatchEvent(new Event('input'));
  want('search', view.matches.length === DEVICES && document.getElementById('found').textContent === DEVICES + ' found');
  press('next'); want('next', view.match === 0 && length() < whole);
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })); want('Enter', view.match === 1);
  field.value = ''; field.dispatchEvent(new Event('input')); want('search ends', view.matches.length === 0);
  press('all'); press('arrows'); want('no arrows', view.arrows === 0);
  press('arrows'); want('arrows again', view.arrows > 0);
  window.dispatchEvent(new Event('resize')); want('resize', view.drawn > 10);
  said.ms = view.ms; said.drawn = view.drawn;
} catch (error) { said.error = String(error) + error.stack; }
document.body.innerHTML = '<pre id="said">' + JSON.stringify(said).replace(/</g, '&lt;') + '</pre>';
"""

LARGE = """
const said = {};
try {
  const { view, data } = tutti;
  said['all slices are there'] = data.tracks.reduce((n, t) => n + t.slices.length / 5, 0) >= 100000;
  said['few are drawn'] = view.drawn < 30000 && view.drawn > 500;
  let longest = view.ms;
  for (let k = 0; k < 30; k++) { tutti.show(view.from + 1000 * k, view.to - 30000 * k); longest = Math.max(longest, view.ms); }
  tutti.search('kernel 7'); said.search = view.matches.length > 1000;
  said.ms = longest;
} catch (error) { said.error = String(error) + error.stack; }
document.body.innerHTML = '<pre id="said">' + JSON.stringify(said).replace(/</g, '&lt;') + '</pre>';
"""


def play(browser, page, script, path):
    with open(path, "w") as file:
        file.write(page.replace("</body>", f"<script>{script}</script></body>"))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900",
         "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={path}.profile", "--dump-dom", "file://" + os.path.abspath(path)],
        capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.S)
    assert found, (done.returncode, done.stdout[-500:], done.stderr[-1500:])
    said = json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert "error" not in said, said["error"]
    wrong = [name for name, holds in said.items() if holds is False]
    assert not wrong, wrong
    return said


def large(page):
    """The same page with 100,000 slices on eight devices."""
    tracks = [{"name": f"device {d}", "slices": [n for i in range(13000) for n in (i * 1000, 900, (i + d) % 50, 1, -1)]}
              for d in range(8)]
    data = {"ns": 13000000, "kinds": ["segment", "kernel", "wait"], "tracks": tracks,
            "names": [[f"kernel {k}", ""] for k in range(50)], "arrows": [], "table": ""}
    return re.sub(r'(<script id="data" type="application/json">).*?(</script>)',
                  lambda m: m.group(1) + json.dumps(data) + m.group(2), page, flags=re.S)


def main():
    browser, path, folder = sys.argv[1:]
    with open(path) as file:
        page = file.read()
    links = re.findall(r'(?:src|href)="?(https?:)?//', page)
    assert not links, "the page asks the network"
    said = play(browser, page, SCRIPT.replace("DEVICES", "4"), os.path.join(folder, "used.html"))
    print(f"the page: {len(said) - 2} things tried, {said['drawn']} slices drawn in {said['ms']:.1f} ms")
    said = play(browser, large(page), LARGE, os.path.join(folder, "large.html"))
    print(f"the page: 104,000 slices, at most {said['ms']:.1f} ms a frame")


main()
