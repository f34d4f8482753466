// A viewer of trace files and of programs that run. It has a table of records in the colours of their levels,
// a line for a filter, and everything about the selected record.
#pragma once

#include <QtCore/QStringList>
#include <QtGui/QFontDatabase>
#include <QtWidgets/QAbstractItemView>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QMainWindow>
#include <QtWidgets/QScrollBar>
#include <QtWidgets/QSplitter>
#include <QtWidgets/QStatusBar>
#include <QtWidgets/QStyledItemDelegate>
#include <QtWidgets/QTableView>
#include <QtWidgets/QTreeView>
#include <QtWidgets/QVBoxLayout>
#include <QtWidgets/QWidget>
#include <silverpoint/qt/model.hpp>

using silverpoint::qt::records_model;

// Rows in the colours of their levels.
class level_delegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const QVariant level = index.data(records_model::level_role);
        if (!level.isValid()) return;
        struct look {
            QRgb text, back;
        };
        static constexpr look looks[] = {
            {0xFF8A9199, 0x00000000},  // trace
            {0xFF57606A, 0x00000000},  // debug
            {0xFF1F2328, 0x00000000},  // info
            {0xFF7A4B00, 0xFFFFF3D6},  // warn
            {0xFFA40E26, 0xFFFFE5E7},  // error
            {0xFFFFFFFF, 0xFFA40E26},  // fatal
        };
        const look& of = looks[std::clamp(level.toInt(), 0, 5)];
        option->palette.setColor(QPalette::Text, QColor::fromRgba(of.text));
        if (qAlpha(of.back) != 0) option->backgroundBrush = QColor::fromRgba(of.back);
        if (index.column() == records_model::level) {
            option->font.setBold(level.toInt() >= 3);
            option->displayAlignment = Qt::AlignCenter;
        }
    }
};

class viewer : public QMainWindow {
  public:
    viewer() {
        setWindowTitle(QStringLiteral("Silverpoint"));
        resize(1280, 800);
        auto* all = new QWidget;
        auto* column = new QVBoxLayout(all);
        column->setContentsMargins(8, 8, 8, 0);
        column->addLayout(make_top());
        auto* parts = new QSplitter(Qt::Vertical);
        parts->setChildrenCollapsible(false);
        parts->setHandleWidth(8);
        parts->addWidget(make_table());
        parts->addWidget(make_details());
        parts->setStretchFactor(0, 3);
        parts->setStretchFactor(1, 2);
        column->addWidget(parts, 1);
        setCentralWidget(all);
        statusBar()->addWidget(status_, 1);
        statusBar()->addPermanentWidget(told_);
        told_->setTextFormat(Qt::PlainText);
        told_->setStyleSheet(QStringLiteral("color: #A40E26"));
        model_.on_change([this](const QStringList& messages) { changed(messages); });
    }

    bool open(const QStringList& files, bool follow, QString* error) {
        silverpoint::reading::options how;
        how.follow = follow;
        return show_name(files, model_.open(files, how, error));
    }
    bool open_live(const QStringList& targets, QString* error) {
        end_->setChecked(true);
        return show_name(targets, model_.open_live(targets, {}, error));
    }

    records_model& model() { return model_; }
    QTableView& table() { return *table_; }
    QTreeView& values() { return *values_; }
    QLineEdit& filter() { return *filter_; }
    QLabel& mistake() { return *mistake_; }
    QLabel& summary() { return *summary_; }
    QLabel& status() { return *status_; }
    QCheckBox& end() { return *end_; }

  private:
    QLayout* make_top() {
        auto* line = new QHBoxLayout;
        filter_->setPlaceholderText(
            QStringLiteral("Filter:  -l warn -c net   or   bytes > 1000 and user ~ \"a*\""));
        filter_->setClearButtonEnabled(true);
        filter_->setMinimumHeight(30);
        end_->setText(QStringLiteral("Stay at the end"));
        line->addWidget(filter_, 1);
        line->addWidget(end_);
        auto* lines = new QVBoxLayout;
        mistake_->setTextFormat(Qt::PlainText);
        mistake_->setStyleSheet(QStringLiteral("color: #A40E26"));
        mistake_->hide();
        lines->addLayout(line);
        lines->addWidget(mistake_);
        // What is being typed is often no filter yet: the filter is applied at the end of the line.
        connect(filter_, &QLineEdit::returnPressed, this, [this] { apply(); });
        connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
            if (text.isEmpty()) apply();
        });
        connect(end_, &QCheckBox::toggled, this, [this](bool on) {
            if (on) table_->scrollToBottom();
        });
        return lines;
    }

    QWidget* make_table() {
        table_->setModel(&model_);
        table_->setItemDelegate(new level_delegate(table_));
        table_->setSelectionBehavior(QAbstractItemView::SelectRows);
        table_->setSelectionMode(QAbstractItemView::SingleSelection);
        table_->setShowGrid(false);
        table_->setWordWrap(false);
        table_->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
        table_->verticalHeader()->hide();
        // One height for all: asking millions of rows for theirs would take for ever.
        table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
        table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
        auto* header = table_->horizontalHeader();
        header->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        header->setHighlightSections(false);
        const int widths[] = {130, 64, 110, 130, 130, 420, 150, 200};
        for (int at = 0; at < records_model::columns; ++at) header->resizeSection(at, widths[at]);
        header->setSectionResizeMode(records_model::message, QHeaderView::Stretch);
        connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
                [this](const QModelIndex& now) { select(now); });
        // Who scrolls up wants to read there.
        connect(table_->verticalScrollBar(), &QScrollBar::sliderMoved, this,
                [this](int at) { end_->setChecked(at == table_->verticalScrollBar()->maximum()); });
        connect(&model_, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex& parent) {
            if (!parent.isValid() && end_->isChecked()) table_->scrollToBottom();
            if (parent.isValid() && parent == selected_) show_values();
        });
        connect(&model_, &QAbstractItemModel::dataChanged, this,
                [this](const QModelIndex& from, const QModelIndex& to) {
                    if (from.row() <= selected_.row() && selected_.row() <= to.row()) summarize();
                });
        connect(&model_, &QAbstractItemModel::modelReset, this, [this] { select({}); });
        return table_;
    }

    QWidget* make_details() {
        auto* details = new QWidget;
        auto* column = new QVBoxLayout(details);
        column->setContentsMargins(0, 0, 0, 0);
        summary_->setTextFormat(Qt::RichText);
        summary_->setWordWrap(true);
        summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
        summary_->setMargin(4);
        values_->setHeaderHidden(true);
        values_->setAlternatingRowColors(true);
        values_->setUniformRowHeights(true);
        values_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
        column->addWidget(summary_);
        column->addWidget(values_, 1);
        select({});
        return details;
    }

    void apply() {
        QString error;
        const bool is_filter = model_.set_filter(filter_->text().trimmed(), &error);
        mistake_->setText(error);
        mistake_->setVisible(!is_filter);
    }

    void select(const QModelIndex& index) {
        selected_ = index.siblingAtColumn(0);
        set_values(nullptr);
        summarize();
        if (!selected_.isValid()) return;
        if (model_.canFetchMore(selected_)) model_.fetchMore(selected_);
        show_values();
    }
    void show_values() {
        if (model_.rowCount(selected_) == 0) return;
        set_values(&model_);
        values_->setRootIndex(selected_);
        values_->setColumnWidth(0, 260);
        values_->setColumnWidth(1, 620);
        values_->expandToDepth(1);
    }
    // A view does not delete the selection that it had of another model.
    void set_values(QAbstractItemModel* model) {
        QItemSelectionModel* const before = values_->selectionModel();
        values_->setModel(model);
        if (values_->selectionModel() != before) delete before;
    }
    void summarize() {
        if (!selected_.isValid()) {
            summary_->setText(QStringLiteral(
                "<span style='color:#8A9199'>Select a record to see everything about it.</span>"));
            return;
        }
        // A message may have megabytes: its beginning is enough here, and the values have it all.
        const auto text = [this](int column) {
            return selected_.sibling(selected_.row(), column).data().toString().left(4000).toHtmlEscaped();
        };
        // A tip with a tag is HTML already.
        const auto tip = [this](int column) {
            const QString made = selected_.sibling(selected_.row(), column).data(Qt::ToolTipRole).toString();
            return made.contains(QLatin1Char('<')) ? made : made.toHtmlEscaped();
        };
        summary_->setText(
            QStringLiteral("<b>%1</b><br><span style='color:#57606A'>%2 &nbsp;·&nbsp; %3 &nbsp;·&nbsp; "
                           "%4 &nbsp;·&nbsp; thread %5 &nbsp;·&nbsp; %6 &nbsp;·&nbsp; %7</span>")
                .arg(text(records_model::message), tip(records_model::time), text(records_model::level),
                     text(records_model::process), text(records_model::thread), text(records_model::function),
                     tip(records_model::place)));
    }

    void changed(const QStringList& messages) {
        using silverpoint::reading::state;
        const char* const what = model_.state() == state::more      ? "reading"
                                 : model_.state() == state::waiting ? "live"
                                                                    : "complete";
        status_->setText(
            QStringLiteral("%L1 records  ·  %2").arg(model_.rowCount()).arg(QLatin1String(what)));
        if (messages.isEmpty()) return;
        told_->setText(messages.last());
        told_->setToolTip(records_model::tip(messages.join(QLatin1Char('\n'))));
    }
    bool show_name(const QStringList& of, bool is_open) {
        if (is_open) setWindowTitle(QStringLiteral("%1 — Silverpoint").arg(of.join(QLatin1String(", "))));
        return is_open;
    }

    records_model model_;
    QTableView* table_ = new QTableView;
    QTreeView* values_ = new QTreeView;
    QLineEdit* filter_ = new QLineEdit;
    QCheckBox* end_ = new QCheckBox;
    QLabel* mistake_ = new QLabel;
    QLabel* summary_ = new QLabel;
    QLabel* status_ = new QLabel;
    QLabel* told_ = new QLabel;
    QPersistentModelIndex selected_;
};
