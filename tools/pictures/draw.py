"""Pictures of runs as SVG: which device holds what, who did what when, and lines of numbers."""
import html

DEVICE = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#eeca3b", "#9d755d"]
KIND = {"kernel": "#4c78a8", "collective": "#f58518", "wait": "#e6c9c9", "ready": "#eeeeee"}
FONT = 'font-family="sans-serif" font-size="12"'


class Picture:
    def __init__(self, title):
        self.title, self.parts, self.width, self.height = title, [], 0, 0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def box(self, x, y, w, h, fill, tip="", stroke="white"):
        tip = f"<title>{html.escape(tip)}</title>" if tip else ""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" '
                          f'stroke="{stroke}">{tip}</rect>')
        self.reach(x + w, y + h)

    def text(self, x, y, words, anchor="start", fill="#222"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">'
                          f"{html.escape(str(words))}</text>")
        wide = 7 * len(str(words)) * {"start": 1, "middle": 0.5, "end": 0}[anchor]
        self.reach(x + wide, y + 4)

    def line(self, points, stroke, width=1.5):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{at}" fill="none" stroke="{stroke}" stroke-width="{width}"/>')
        for x, y in points:
            self.reach(x, y)

    def svg(self):
        w, h = self.width + 10, self.height + 10
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0f} {h:.0f}" width="{w:.0f}" '
                f'role="img" {FONT}><title>{html.escape(self.title)}</title>\n'
                f'<rect width="{w:.0f}" height="{h:.0f}" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def color(device):
    return DEVICE[device % len(DEVICE)]


def numbers(devices):
    """0 1 2 3 as 0-3."""
    together = devices == list(range(devices[0], devices[0] + len(devices))) and len(devices) > 2
    return f"{devices[0]}-{devices[-1]}" if together else " ".join(map(str, devices))


def array(p, x, y, name, cut):
    """An array as a plane: its last axis to the right, all before it downwards."""
    tiles = [cut.tiles[i] if i < len(cut.tiles) else 1 for i in range(len(cut.dims))] or [1]
    across, down = tiles[-1], 1
    for n in tiles[:-1]:
        down *= n
    w, h = max(34, 120 // across), max(24, 72 // down)
    p.text(x, y + 12, f"{name}  {cut.element}[{','.join(map(str, cut.dims))}]")
    held = {}
    for device, at in zip(cut.devices, cut.tile_of):
        held.setdefault(tuple(at), []).append(device)
    for at, devices in held.items():
        row = 0
        for k in at[:-1]:
            row = row * tiles[len(at[:-1]) - 1] + k if len(at) > 2 else k
        column = at[-1] if at else 0
        tip = "device " + numbers(devices) + ": " + "".join(
            f"[{k * d // n}:{(k + 1) * d // n}]" for k, d, n in zip(at, cut.dims, tiles))
        p.box(x + column * w, y + 20 + row * h, w, h, color(devices[0]) if len(devices) == 1 else "#bbbbbb", tip)
        p.text(x + (column + 0.5) * w, y + 20 + (row + 0.5) * h + 4, numbers(devices), "middle",
               "white" if len(devices) == 1 else "#222")
    return max(across * w, 8 * (len(name) + 16)) + 24, 20 + down * h + 16


def holds(title, arguments, results, ndevices):
    """Arguments to the left, results to the right; a cell says which devices hold it.  Devices that hold
    nothing are named."""
    p = Picture(title)
    right, bottom = 0, 0
    for column, (word, arrays) in enumerate((("before", arguments), ("after", results))):
        x, y = 10 if column == 0 else right + 40, 10
        p.text(x, y + 6, word)
        y += 16
        for name, cut in arrays:
            w, h = array(p, x, y, name, cut)
            right, y = max(right, x + w) if column == 0 else right, y + h
        bottom = max(bottom, y)
    idle = sorted(set(range(ndevices)).difference(*(cut.devices for _, cut in arguments + results)))
    for i, device in enumerate(idle):
        p.box(10 + 38 * i, bottom, 34, 24, "white", stroke=color(device))
        p.text(27 + 38 * i, bottom + 16, device, "middle")
    if idle:
        p.text(20 + 38 * len(idle), bottom + 16, "hold nothing of it")
    return p.svg()


def lanes(p, x, y, wide, lanes_, first, last):
    """Rows of slices (begin, end, kind, name) from first to last, in microseconds, and a scale."""
    scale = wide / max(last - first, 1e-9)
    for name, slices in lanes_:
        p.text(x, y + 15, name)
        p.box(x + 80, y, wide, 20, "#f7f7f7")
        for begin, end, kind, what in slices:
            p.box(x + 80 + (begin - first) * scale, y, max((end - begin) * scale, 0.7), 20,
                  KIND.get(kind, "#999999"), f"{what}: {end - begin:.2f} us", "none")
        y += 24
    p.text(x + 80, y + 12, "0")
    p.text(x + 80 + wide, y + 12, f"{last - first:.1f} us", "end")
    return y + 20


def legend(p, x, y):
    for kind, words in (("kernel", "computes"), ("collective", "collective"), ("wait", "waits")):
        p.box(x, y, 12, 12, KIND[kind])
        p.text(x + 17, y + 10, words)
        x += 90


def timeline(title, groups):
    """groups: (words, lanes); all begin at 0 and share the scale."""
    p, y = Picture(title), 10
    last = max((e for _, rows in groups for _, s in rows for _, e, _, _ in s), default=1)
    for words, rows in groups:
        p.text(10, y + 8, words)
        y = lanes(p, 10, y + 16, 560, rows, 0, last) + 6
    legend(p, 90, y)
    return p.svg()


def curves(title, panels):
    """panels: (words, [(name, color, values)]), one beside the other on one scale."""
    p, x, tall = Picture(title), 40, 180
    every = [v for _, lines in panels for _, _, values in lines for v in values]
    low, high = min(every), max(every)
    for words, lines in panels:
        p.text(x, 16, words)
        p.box(x, 24, 260, tall, "#f7f7f7")
        for value in (low, high):
            p.text(x - 4, 28 + tall - (value - low) / (high - low) * tall, f"{value:.1f}", "end")
        for _, stroke, values in lines:
            p.line([(x + 260 * i / (len(values) - 1), 24 + tall - (v - low) / (high - low) * tall)
                    for i, v in enumerate(values)], stroke)
        p.text(x, 40 + tall, "step 0")
        p.text(x + 260, 40 + tall, f"step {len(lines[0][2]) - 1}", "end")
        x += 320
    for i, (name, stroke, _) in enumerate(panels[0][1]):
        p.box(40 + 100 * i, 54 + tall, 12, 12, stroke)
        p.text(57 + 100 * i, 64 + tall, name)
    return p.svg()
