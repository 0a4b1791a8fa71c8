"""Formats a comparison as a Markdown table."""


def seconds_with_range(figures):
    return f"{figures['median']:.3f} ({figures['min']:.3f}-{figures['max']:.3f})"


def ratio(rival, ours, key):
    return f"{rival[key]['median'] / ours[key]['median']:.2f}" if ours else "-"


def row(name, rival, result):
    ours = result["rivals"].get("ooc_run")
    file_bytes = result["file"]["bytes"]
    answer = "agrees" if rival["answers"] else "none to give"
    cells = [name, seconds_with_range(rival["seconds"]),
             f"{file_bytes / rival['seconds']['median'] / 1e9:.2f}", ratio(rival, ours, "seconds"),
             seconds_with_range(rival["process_seconds"]), ratio(rival, ours, "process_seconds"),
             f"{rival['cpu_seconds']['median'] / (file_bytes / 1e9):.2f}",
             str(rival["seconds"]["runs"]), result["wrong_answers"].get(name, answer)]
    return "| " + " | ".join(cells) + " |"


def markdown(result):
    size = result["file"]["bytes"] / (1 << 30)
    machine = result["machine"]
    lines = [f"{result['job']}, {result['cache']}, {size:.2f} GiB on "
             f"{result['file']['file_system']}; {machine['cores']} cores, "
             f"{machine['gpu'] or 'no GPU'}", "",
             "| rival | seconds | GB/s | times ooc-run's | process, seconds | times ooc-run's "
             "| CPU s/GB | runs | answer |", "|" + " --- |" * 9]
    by_speed = sorted(result["rivals"].items(), key=lambda item: item[1]["seconds"]["median"])
    lines += [row(name, rival, result) for name, rival in by_speed]
    lines += [""] + [f"{name}: left out, {reason}" for name, reason in result["left_out"].items()]
    return "\n".join(lines)
