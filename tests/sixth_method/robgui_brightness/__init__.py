"""A method that robgui does not ship: how much brighter or darker may an input become before its
class changes?
"""
