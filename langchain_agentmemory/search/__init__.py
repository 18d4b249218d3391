"""Search over one namespace: words, scores, fusion, and the page that comes back.

Knows neither where items are stored nor what a memory is. `ranking` is where to start
reading, `shelf` holds the index, `pipeline` makes the page.
"""
